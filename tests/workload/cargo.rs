//! A crate that is built, with its target directory beside it.

use crate::places::same_as_on_the_disk;

#[test]
fn a_workspace_is_built_tested_and_built_again_where_it_changed() {
    let steps = r#"
        unset CARGO_TARGET_DIR RUSTFLAGS
        export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=1 CARGO_BUILD_JOBS=2
        mkdir -p base/src application/src
        printf '[workspace]\nmembers = ["base", "application"]\nresolver = "2"\n' >Cargo.toml
        for name in base application; do
          printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n' $name >$name/Cargo.toml
        done
        printf '[dependencies]\nbase = { path = "../base" }\n' >>application/Cargo.toml
        cat >base/build.rs <<'EOF'
fn main() {
    println!("cargo:rerun-if-changed=number");
    let number = std::fs::read_to_string("number").unwrap();
    let path = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join("number.rs");
    std::fs::write(path, format!("pub const NUMBER: u32 = {};", number.trim())).unwrap();
}
EOF
        echo 1 >base/number
        echo 'include!(concat!(env!("OUT_DIR"), "/number.rs"));' >base/src/lib.rs
        echo 'fn main() { println!("one {}", base::NUMBER); }' >application/src/main.rs
        echo '#[test] fn counts() { assert!(base::NUMBER > 0); }' >>application/src/main.rs
        # Which of them it compiles.
        build() {
          if ! cargo "$@" --offline 2>"$elsewhere/log"; then cat "$elsewhere/log" >&2; return 1; fi
          sed -n 's/^ *Compiling \([a-z]*\) .*/compiled \1/p' "$elsewhere/log" | sort
        }
        build build
        target/debug/application
        echo again
        build build
        for n in 2 3 4; do
          echo "$n" >base/number
          build run
          sed -i "s/one/one $n/" application/src/main.rs
          build run
        done
        build test --quiet | grep 'test result' | sed 's/ finished.*//' | head -n 1
        [ target/debug/application -ef "$(ls -t target/debug/deps/application-* | grep -v '\.d$' | xargs -I{} find {} -links 2 | head -n 1)" ] && echo linked
        cp -a target/debug/application copied && ./copied
        build clean
        ls"#;
    let told = same_as_on_the_disk(steps);
    assert!(told.starts_with("compiled application\ncompiled base\none 1\nagain\none 2\n"), "{told}");
}
