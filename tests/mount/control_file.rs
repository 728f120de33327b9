//! `.snapshots/.control`, and forks by setxattr.

use crate::support::{Actor, Mount, NOBODY};

const QUIET: &[&str] = &["snapshots.auto=off"];

fn asker(mount: &Mount) -> Actor {
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run(
        "import json\n\
         os.chdir('threads/t'); P = pathlib.Path; C = '.snapshots/.control'\n\
         def raw(data, c=C):\n\
         \x20   fd = os.open(c, os.O_RDWR)\n\
         \x20   try:\n\
         \x20       os.write(fd, data); return json.loads(os.pread(fd, 1 << 24, 0))\n\
         \x20   finally: os.close(fd)\n\
         def ask(op, c=C, **more): return raw(json.dumps({'op': op, **more}).encode(), c)",
    );
    actor
}

#[test]
fn create_log_versions_show() {
    let mount = Mount::with(QUIET);
    let actor = asker(&mount);
    actor.run("P('a.json').write_text('[1]'); made = ask('create', name='one', reason='why not')");
    assert!(actor.is("made == {'ok': {'name': 'one'}}"));
    assert!(actor.is("ask('create', name=None)['ok']['name'].startswith('manual-20')"));
    actor.run("P('a.json').write_text('[2]'); P('n').write_text('')");
    actor.run("log = ask('log')['ok']; first, second = log['snapshots']");
    assert!(actor.is("(first['name'], first['reason'], first['kind']) == ('one', 'why not', 'named')"));
    assert!(actor.is("first['pid'] == os.getpid() and 'python3' in first['command'] and 'counts' not in first"));
    assert!(actor.is("second['counts'] == {'added': 0, 'removed': 0, 'changed': 0}"));
    assert!(actor.is("log['now']['counts'] == {'added': 1, 'removed': 0, 'changed': 1}"));
    assert!(actor.is("[c['path'] for c in ask('log', paths=True)['ok']['now']['changes']] == ['a.json', 'n']"));
    actor.run("v = ask('versions')['ok']['versions']");
    assert!(actor.is(
        "[(x['path'], x['version'], x['size'], x['pid']) for x in v] == [('a.json', n, 3, os.getpid()) for n in (1, 2)]"
    ));
    assert!(actor.is("ask('versions', path='a.json')['ok']['versions'] == v"));
    assert!(actor.is("ask('show', path='a.json', version=1) == {'ok': {'content': '[1]'}}"));
    assert!(actor.is("ask('show', path='a.json', version=9)['error']['errno'] == errno.ENOENT"));
    assert!(actor.is("ask('show', path='none', version=9)['error']['errno'] == errno.ENOENT"));
}

#[test]
fn what_is_refused() {
    let mount = Mount::with(QUIET);
    let actor = asker(&mount);
    actor.run("ask('create', name='before')");
    assert_eq!(
        actor.text("ask('diff', **{'from': 'befor'})['error']['message']"),
        "there is no snapshot \"befor\"; the nearest is \"before\""
    );
    for (request, errno) in [
        ("ask('nonsense')", "EINVAL"),
        ("ask('create', name='before')", "EEXIST"),
        ("ask('create', name='@x')", "EINVAL"),
        ("ask('create', name='.control')", "EINVAL"),
        ("ask('create', name='a/b')", "EINVAL"),
        ("ask('create', name='a' * 201)", "ENAMETOOLONG"),
        ("ask('create', name='bad \\\\q')", "EINVAL"),
        ("ask('diff', **{'from': '@1970-01-01T00:00:00Z'})", "ENOENT"),
        ("ask('diff', **{'from': '@noon'})", "ENOENT"),
        ("ask('restore', name='none')", "ENOENT"),
    ] {
        assert!(
            actor.is(&format!("{request}['error']['errno'] == errno.{errno}")),
            "{request}: {}",
            actor.run(request)
        );
    }
    actor.run("def put(*writes):\n fd = os.open(C, os.O_RDWR)\n try: [os.pwrite(fd, d, at) for d, at in writes]\n finally: os.close(fd)");
    for write in ["(b'{}', 1)", "(b'no JSON', 0)", "(b'{\"op\":\"log\"}', 0), (b'{\"op\":\"log\"}', 0)"] {
        assert_eq!(actor.fails(&format!("put({write})")), "EINVAL", "{write}");
    }
    assert!(actor.is("os.pread(os.open(C, os.O_RDWR), 10, 0) == b''"));
    // A large request arrives in one piece.
    assert!(actor.is("ask('create', name='big', reason='x' * 900_000) == {'ok': {'name': 'big'}}"));
    assert!(actor.is("len(ask('log')['ok']['snapshots'][1]['reason']) == 900_000"));
    for change in ["os.unlink(C)", "os.rename(C, '.snapshots/x')", "os.chmod(C, 0o666)", "os.mkdir(C)"] {
        assert!(["EROFS", "EEXIST"].contains(&actor.fails(change).as_str()), "{change}");
    }
}

#[test]
fn only_the_owner_may_and_no_listing_shows_it() {
    let mount = Mount::with(QUIET);
    let actor = asker(&mount);
    actor.run("os.chown('.', 7000, 7000); os.mkdir('.snapshots/one')");
    assert!(actor.is("os.listdir('.snapshots') == ['one']"));
    assert!(actor.is("(lambda s: (s.st_uid, s.st_gid, oct(s.st_mode)))(os.stat(C)) == (7000, 7000, '0o100600')"));
    let stranger = mount.actor_as(NOBODY);
    assert_eq!(stranger.fails("os.open('threads/t/.snapshots/.control', os.O_RDWR)"), "EACCES");
    assert_eq!(stranger.fails("os.open('.snapshots/.control', os.O_RDWR)"), "EACCES");
    let owner = mount.actor_as(7000);
    owner.run("fd = os.open('threads/t/.snapshots/.control', os.O_RDWR); os.write(fd, b'{\"op\":\"create\",\"name\":\"mine\"}')");
    assert!(owner.is("b'mine' in os.pread(fd, 100, 0)"));
    assert!(owner.is("os.getxattr('threads/t/.snapshots/mine', 'user.threadfs.pid') == str(os.getpid()).encode()"));
    actor.run("made = ask('create', c='../../.snapshots/.control', name='all')");
    assert!(actor.is("os.getxattr('../../.snapshots/all', 'user.threadfs.kind') == b'home'"));
}

#[test]
fn what_a_snapshot_tells_of_itself() {
    let mount = Mount::with(QUIET);
    let actor = asker(&mount);
    actor.run("P('f').write_bytes(b'x' * 50_000); os.mkdir('.snapshots/one'); P('f').write_bytes(b'y'); P('g').write_text('')");
    actor.run("os.mkdir('.snapshots/two')\ndef tell(s, n): return os.getxattr('.snapshots/' + s, 'user.threadfs.' + n).decode()");
    assert_eq!(actor.text("tell('two', 'changes')"), "+1 -0 ~1");
    assert_eq!(actor.fails("tell('one', 'changes')"), "ENODATA");
    assert_eq!(actor.text("tell('one', 'bytes')"), "50000");
    assert_eq!(actor.text("tell('two', 'bytes')"), "0");
    assert_eq!(actor.text("tell('one', 'kind')"), "named");
    assert!(actor.is("'python3' in tell('one', 'command')"));
    actor.run("def names(s): return sorted(n[14:] for n in os.listxattr('.snapshots/' + s))");
    assert!(actor.is("names('one') == ['bytes', 'command', 'kind', 'name', 'pid', 'time', 'version']"));
    assert!(actor.is("names('two') == ['bytes', 'changes', 'command', 'kind', 'name', 'pid', 'time', 'version']"));
}

#[test]
fn a_fork_is_for_the_owner_of_the_source() {
    let mount = Mount::with(QUIET);
    let actor = asker(&mount);
    actor.run("os.chmod('..', 0o777); ino = os.stat('.').st_ino\ndef fork(d, n, s='', i=None): os.setxattr(d, 'user.threadfs.fork', f'{i or ino}\\0{s}\\0{n}'.encode())");
    assert_eq!(actor.fails("fork('..', 'f', 'none')"), "ENOENT");
    assert_eq!(actor.fails("fork('..', 'f', i=1)"), "EINVAL");
    assert_eq!(actor.fails("fork('..', 'f', i=99 << 32 | 1)"), "ENOENT");
    assert_eq!(actor.fails("os.setxattr('..', 'user.threadfs.fork', b'x')"), "EINVAL");
    let stranger = mount.actor_as(NOBODY);
    assert_eq!(
        stranger
            .fails("os.setxattr('threads', 'user.threadfs.fork', f'{os.stat(\"threads/t\").st_ino}\\0\\0f'.encode())"),
        "EPERM"
    );
    assert!(actor.is("os.listxattr('..') == []"));
}
