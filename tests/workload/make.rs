//! make, which goes by the order of times.

use crate::places::same_as_on_the_disk;

#[test]
fn edits_some_milliseconds_apart_are_built() {
    let steps = r#"
        printf 'all: product\n%%.middle: %%.source\n\tcp $< $@\nproduct: a.middle b.middle\n\tcat $^ >$@\n' >Makefile
        echo a >a.source
        echo b >b.source
        make --silent
        for n in $(seq 30); do
          sleep 0.005
          echo "a$n" >a.source
          make --silent
          [ "$(head -n 1 product)" = "a$n" ] || echo "edit $n was not built"
          make --silent --question || echo "after $n: something is left to do"
        done
        cat product
        sleep 0.01
        touch b.source
        make --question || echo to do
        make --silent
        make --question"#;
    assert_eq!(same_as_on_the_disk(steps), "a30\nb\nto do\n");
}

#[test]
fn many_targets_at_once() {
    let steps = r#"
        cat >Makefile <<'EOF'
names := $(shell seq 300)
all: $(names:%=out/%.o)
out/%.o: in/%.c | out
	@sed s/in/out/ $< >$@.tmp && mv $@.tmp $@
out:
	@mkdir $@
EOF
        mkdir in
        for n in $(seq 300); do echo "in $n" >in/$n.c; done
        make --silent -j 4
        cat out/*.o | sort | sha256sum
        make --question
        sleep 0.01
        touch in/7.c in/77.c
        make --dry-run | grep -c mv"#;
    assert!(same_as_on_the_disk(steps).ends_with("\n2\n"));
}
