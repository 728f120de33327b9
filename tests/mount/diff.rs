//! What is different between two states, by `threadfs diff`.

use serde_json::Value;

use crate::support::{Actor, Mount};

const QUIET: &[&str] = &["snapshots.auto=off"];

fn thread() -> (Mount, Actor) {
    let mount = Mount::with(QUIET);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run(
        "os.chdir('threads/t'); P = pathlib.Path\n\
         def snap(name): os.mkdir('.snapshots/' + name)",
    );
    (mount, actor)
}

/// `+path what` of each difference.
#[track_caller]
fn told(mount: &Mount, states: &[&str]) -> Vec<String> {
    let reply = mount.threadfs_json(&[&["diff", "threads/t", "--json"], states].concat());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let line = |change: &Value| {
        let mark = match change["change"].as_str().unwrap() {
            "added" => "+",
            "removed" => "-",
            "changed" => "~",
            _ => ">",
        };
        let what: Vec<String> = change["what"].as_array().unwrap().iter().map(text).collect();
        let from = change["from"].as_str().map(|from| format!(" from {from}")).unwrap_or_default();
        format!("{mark}{}{from} {}", text(&change["path"]), what.join(",")).trim_end_matches(' ').to_string()
    };
    reply["changes"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn nothing_is_no_difference() {
    let (mount, actor) = thread();
    actor.run("P('f').write_text('1'); snap('a'); P('f').read_text()");
    assert!(told(&mount, &["a"]).is_empty());
    assert_eq!(mount.threadfs(&["diff", "threads/t", "a"]).ok(), "There are no differences.\n");
    actor.run("snap('b')");
    assert!(told(&mount, &["a", "b"]).is_empty());
}

#[test]
fn each_kind_of_change() {
    let (mount, actor) = thread();
    actor.run(
        "for n in 'content mode owner xattr times same gone grown'.split(): P(n).write_text(n)\n\
         os.symlink('x', 'link'); P('kind').write_text('k'); os.mkdir('dir'); os.mkdir('dirmode'); snap('a')",
    );
    actor.run(
        "P('content').write_text('CONTENT'); os.chmod('mode', 0o600); os.chown('owner', 7, 8)\n\
         os.setxattr('xattr', 'user.a', b'1'); os.utime('times', (1, 1)); P('same').write_text('same'); os.unlink('gone')\n\
         P('grown').write_text('grown more'); os.unlink('link'); os.symlink('y', 'link')\n\
         os.unlink('kind'); os.mkdir('kind'); P('dir/new').write_text('n'); os.chmod('dirmode', 0o700)\n\
         os.chmod('.', 0o711)",
    );
    let expected = [
        "~. mode",
        "~content content",
        "+dir/new",
        "~dirmode mode",
        "-gone",
        "~grown content",
        "~kind kind",
        "~link target",
        "~mode mode",
        "~owner owner",
        "~same times",
        "~times times",
        "~xattr xattrs",
    ];
    assert_eq!(told(&mount, &["a"]), expected);
    actor.run("snap('b'); P('later').write_text('l')");
    assert_eq!(told(&mount, &["a", "b"]), expected);
    assert_eq!(told(&mount, &["b"]), ["+later"]);
    // From the newer to the older one, everything is the other way round.
    let back = told(&mount, &["b", "a"]);
    assert!(back.contains(&"-dir/new".into()) && back.contains(&"+gone".into()), "{back:?}");
    let text = mount.threadfs(&["diff", "threads/t", "a", "b"]).ok();
    for line in [
        "~ grown  (content, 5 to 10 bytes)\n",
        "- gone  (4 bytes)\n",
        "~ kind  (kind, file to directory)\n",
        "~ dirmode  (mode, directory)\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn trees_links_and_renames() {
    let (mount, actor) = thread();
    actor.run(
        "os.makedirs('old/sub'); P('old/sub/f').write_text('f'); os.makedirs('d/e'); P('d/e/g').write_text('g')\n\
         P('h1').write_text('h'); os.link('h1', 'h2'); P('r').write_text('r'); P('p').write_text('p'); snap('a')",
    );
    actor.run(
        "shutil.rmtree('old'); os.makedirs('new/sub'); P('new/sub/n').write_text('n')\n\
         os.rename('d', 'moved'); P('moved/e/g').write_text('G'); P('moved/e/i').write_text('i')\n\
         f = open('h1', 'r+'); f.write('H'); f.close(); os.link('h1', 'h3')\n\
         os.rename('r', 'r2'); P('tmp').write_text('p'); os.replace('tmp', 'p')",
    );
    assert_eq!(
        told(&mount, &["a"]),
        [
            "~h1 content",
            "~h2 content",
            "+h3",
            ">moved from d",
            "~moved/e/g content",
            "+moved/e/i",
            "+new",
            "+new/sub",
            "+new/sub/n",
            "-old",
            "-old/sub",
            "-old/sub/f",
            "~p times",
            ">r2 from r",
        ]
    );
    assert_eq!(mount.threadfs_json(&["diff", "threads/t", "a", "--json"])["counts"]["added"], 5);
}

#[test]
fn directories_that_change_places() {
    let (mount, actor) = thread();
    actor.run(
        "os.makedirs('a/x'); os.makedirs('b/y'); P('a/x/1').write_text('1'); os.makedirs('c'); os.makedirs('up/in')\n\
         P('up/in/f').write_text('f'); os.mkdir('empty'); snap('s')",
    );
    actor.run(
        "os.rename('a', 't'); os.rename('b', 'a'); os.rename('t', 'b')\n\
         os.rename('up/in', 'in'); shutil.rmtree('up'); os.rename('c', 'empty')",
    );
    assert_eq!(told(&mount, &["s"]), [">a from b", ">b from a", "-c", ">in from up/in", "-up"]);
    // A directory with the same names, made anew, is compared name by name.
    actor.run("shutil.rmtree('in'); os.mkdir('in'); P('in/f').write_text('f2'); snap('z'); shutil.rmtree('in')");
    assert_eq!(told(&mount, &["z"]), ["-in", "-in/f"]);
}

#[test]
fn names_of_any_bytes() {
    let (mount, actor) = thread();
    actor.run("P('back\\\\slash').write_text('1'); open(b'\\xff\\n', 'w').close(); snap('a')");
    actor.run("os.unlink(b'\\xff\\n'); P('back\\\\slash').write_text('2'); P('ü').write_text('u')");
    assert_eq!(told(&mount, &["a"]), ["~back\\\\slash content", "+ü", "-\\xff\n"]);
    let text = mount.threadfs(&["diff", "threads/t", "a"]).ok();
    assert!(text.contains("- \\xff\\n  (0 bytes)\n"), "{text}");
}

#[test]
fn documents_field_by_field_and_the_status() {
    let (mount, actor) = thread();
    actor.run("P('a.json').write_text('{\"id\": 1, \"list\": [1, 2], \"old\": true}'); snap('a')");
    assert_eq!(mount.threadfs(&["diff", "threads/t", "a", "--exit-code"]).status.code(), Some(0));
    actor.run("P('a.json').write_text('{\"id\": \"x\", \"list\": [1], \"new/er\": null}')");
    assert_eq!(
        mount.threadfs(&["diff", "threads/t", "a"]).ok(),
        [
            "~ a.json  (content, 38 to 40 bytes)\n",
            "    ~ /id: 1 -> \"x\"\n",
            "    - /list/1: 2\n",
            "    - /old: true\n",
            "    + /new~1er: null\n"
        ]
        .concat()
    );
    assert_eq!(mount.threadfs(&["diff", "threads/t", "a", "--exit-code"]).status.code(), Some(1));
    let reply = mount.threadfs_json(&["diff", "threads/t", "a", "--json"]);
    assert_eq!(reply["changes"][0]["fields"][0]["pointer"], "/id");
}

#[test]
fn it_costs_the_changes_and_not_the_tree() {
    let (mount, actor) = thread();
    let count = crate::support::scaled(20_000, 200_000);
    actor.run(&format!(
        "os.mkdir('many')\nfor n in range({count}): os.mknod(f'many/{{n}}')\n\
         f = open('large', 'wb'); f.truncate(1 << 30); [f.write(os.urandom(1 << 20)) for _ in range(16)]; f.close(); snap('a')"
    ));
    actor.run("os.mknod('many/new'); f = open('large', 'r+b'); f.seek(5 << 20); f.write(b'x'); f.close()");
    let start = std::time::Instant::now();
    assert_eq!(told(&mount, &["a"]), ["~large content", "+many/new"]);
    assert!(start.elapsed().as_millis() < 1000, "{:?}", start.elapsed());
}

#[test]
fn the_whole_home() {
    let (mount, actor) = thread();
    actor.run("os.chdir(pathlib.Path.cwd().parent.parent); os.mkdir('threads/u'); P('threads/u/a').write_text('1')");
    actor.run(
        "P('top').write_text('1'); os.mkdir('.snapshots/all'); os.mkdir('threads/v'); P('threads/v/f').write_text('')",
    );
    actor.run("P('threads/t/b').write_text('2'); P('threads/u/a').write_text('2'); P('top').write_text('2')");
    let reply = mount.threadfs_json(&["diff", "/", "all", "--json"]);
    let paths: Vec<&str> = reply["changes"].as_array().unwrap().iter().map(|c| c["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["threads/t/b", "threads/u/a", "threads/v", "threads/v/f", "top"]);
    actor.run("shutil.rmtree('threads/u')");
    let reply = mount.threadfs_json(&["diff", ".", "all", "--json"]);
    let gone: Vec<&Value> =
        reply["changes"].as_array().unwrap().iter().filter(|change| change["change"] == "removed").collect();
    assert_eq!(gone.len(), 2, "{reply}");
}
