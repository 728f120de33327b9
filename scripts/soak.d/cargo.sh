# A crate with dependencies, its target directory beside it; the first place resolves the versions.
mkdir src
cat >Cargo.toml <<'EOF'
[package]
name = "application"
version = "0.1.0"
edition = "2021"

[dependencies]
regex = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"

[workspace]
EOF
cat >src/main.rs <<'EOF'
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    number: u32,
    text: String,
}

fn main() {
    let line: Line = serde_json::from_str(r#"{"number":1,"text":"some"}"#).unwrap();
    let found = regex::Regex::new("^s.me$").unwrap().is_match(&line.text);
    println!("{} {found}", serde_json::to_string(&line).unwrap());
}

#[test]
fn adds() {
    assert_eq!(1 + 1, 2);
}
EOF
[ ! -f "$kept/Cargo.lock" ] || cp "$kept/Cargo.lock" .
# How many crates are compiled.
build() { cargo build --jobs 2 "$@" 2>"$kept/cargo.log.$$" || { cat "$kept/cargo.log.$$" >&2; return 1; }; grep -c Compiling "$kept/cargo.log.$$" || true; }
build
cp Cargo.lock "$kept"
target/debug/application
build
for n in $(seq 5); do
  sed -i "s/1 + 1/1 + 1 + $n - $n/" src/main.rs
  build
done
cargo test --quiet 2>&1 | grep '^test result' | sed 's/finished.*//'
build --release
target/release/application
find target/debug -type f -links +1 | grep -c application
cargo clean 2>/dev/null
ls
