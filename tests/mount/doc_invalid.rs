//! What is a document and what is not.

use crate::support::{Actor, DOC, Mount};

const OLD: &str = "[\"old\"]";

/// Writes bytes given as a Python expression, and says what close gave.
fn save(writer: &Actor, path: &str, bytes: &str) -> Result<(), String> {
    writer.run(&format!("fd = os.open('{path}', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644); data = {bytes}"));
    writer.run("assert os.write(fd, data) == len(data)");
    writer.try_run("os.close(fd)").map(|_| ()).map_err(|raised| raised.name)
}

#[track_caller]
fn refused(bytes: &str, reason: &str) {
    let mount = Mount::with_document(OLD);
    let writer = mount.actor();
    assert_eq!(save(&writer, DOC, bytes), Err("EBADMSG".into()));
    assert_eq!(mount.read(DOC), OLD);
    let draft = &mount.rejected_when(1)[0];
    assert!(draft["reason"].as_str().unwrap().starts_with(reason), "{draft}");
    assert_eq!(draft["pid"], writer.pid());
    let log = mount.log_text();
    assert!(log.lines().any(|line| line.contains(DOC) && line.contains(reason)), "{log}");
    assert_eq!(mount.counted("commits_rejected"), 1);
}

#[track_caller]
fn accepted(bytes: &str) {
    let mount = Mount::with_document(OLD);
    let writer = mount.actor();
    assert_eq!(save(&writer, DOC, bytes), Ok(()));
    assert!(writer.is(&format!("open('{DOC}', 'rb').read() == data")));
    assert!(mount.rejected().is_empty());
}

#[test]
fn an_empty_file() {
    refused("b''", "it is empty");
}

#[test]
fn white_space_only() {
    refused("b' \\n\\t '", "it is empty");
}

#[test]
fn half_an_object() {
    refused("b'{\"a\": 1, \"b\"'", "it is not JSON");
}

#[test]
fn a_second_value_behind_the_first() {
    refused("b'{}{}'", "it is not JSON");
}

#[test]
fn a_bare_number() {
    refused("b'1'", "its top level is neither an object nor an array");
}

#[test]
fn a_bare_string() {
    refused("b'\"text\"'", "its top level is neither an object nor an array");
}

#[test]
fn bytes_that_are_not_utf8() {
    refused("b'{\"a\": \"\\xff\"}'", "it is not UTF-8 at byte 7");
}

#[test]
fn nul_bytes() {
    refused("b'{\"a\": 1}' + bytes(100)", "it is not JSON");
    refused("bytes(100)", "its top level is neither");
}

#[test]
fn a_byte_order_mark() {
    refused("b'\\xef\\xbb\\xbf{}'", "it starts with a byte order mark");
}

#[test]
fn utf16() {
    refused("'{}'.encode('utf-16')", "it is not UTF-8 at byte 0");
}

#[test]
fn nan_and_infinity() {
    refused("b'[NaN]'", "it is not JSON");
    refused("b'[-Infinity]'", "it is not JSON");
}

#[test]
fn depth_513() {
    refused("b'[' * 513 + b']' * 513", "it is nested deeper than 512 levels");
}

#[test]
fn depth_100_000() {
    refused("b'[' * 100000 + b']' * 100000", "it is nested deeper than 512 levels");
    refused("b'{\"a\":' * 100000 + b'1' + b'}' * 100000", "it is nested deeper than 512 levels");
}

#[test]
fn depth_512_is_fine() {
    accepted("b'[' * 512 + b']' * 512");
    accepted("b'{\"a\":' * 511 + b'[]' + b'}' * 511");
}

#[test]
fn white_space_around_is_fine() {
    accepted("b'\\n\\t {\"a\": 1} \\r\\n'");
}

#[test]
fn duplicate_keys_are_fine() {
    accepted("b'{\"a\": 1, \"a\": 2}'");
}

#[test]
fn any_text_is_fine() {
    accepted("json.dumps({'\\u00e4\\U0001f600': ['\\u0000', '\\ud800', 1e300, -0.0, None]}).encode()");
    accepted("json.dumps({'\\u00e4\\U0001f600': 1}, ensure_ascii=False).encode()");
    accepted("b'[' + b'9' * 5000 + b']'");
}

#[test]
fn touch_does_not_make_a_document() {
    let mount = Mount::new();
    mount.make("threads/t");
    let touched = mount.actor().number(&format!("subprocess.run(['touch', '{DOC}'], stderr=-3).returncode"));
    assert_eq!(touched, 1);
    assert!(!mount.at(DOC).exists());
    assert_eq!(mount.rejected_when(1)[0]["reason"], "it is empty");
}

#[test]
fn touch_of_a_document_sets_its_times() {
    let mount = Mount::with_document(OLD);
    let actor = mount.actor();
    actor.run(&format!("subprocess.run(['touch', '-d', '2001-02-03 04:05:06 UTC', '{DOC}'], check=True)"));
    assert_eq!(actor.number(&format!("int(os.stat('{DOC}').st_mtime)")), 981_173_106);
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_shell_redirection_that_empties() {
    let mount = Mount::with_document(OLD);
    let actor = mount.actor();
    actor.run(&format!("subprocess.run([': > {DOC}'], shell=True, stderr=-3)"));
    assert_eq!(mount.read(DOC), OLD);
    assert_eq!(mount.rejected_when(1)[0]["reason"], "it is empty");
    actor.run("subprocess.run([': > threads/t/new.json'], shell=True, stderr=-3)");
    assert!(!mount.at("threads/t/new.json").exists());
    mount.rejected_when(2);
}

#[test]
fn a_shell_redirection_that_writes() {
    let mount = Mount::with_document(OLD);
    let actor = mount.actor();
    actor.run(&format!("subprocess.run(['echo [1, 2] > {DOC}; echo [3] >> {DOC}'], shell=True, stderr=-3)"));
    assert_eq!(mount.read(DOC), "[1, 2]\n");
    actor.run("subprocess.run(['(echo [; echo 1; echo ]) > threads/t/new.json'], shell=True, check=True)");
    assert_eq!(mount.read("threads/t/new.json"), "[\n1\n]\n");
}

#[test]
fn the_new_document_of_an_invalid_draft_does_not_appear() {
    let mount = Mount::new();
    mount.make("threads/t");
    let writer = mount.actor();
    assert_eq!(save(&writer, DOC, "b'{\"a\":'"), Err("EBADMSG".into()));
    assert!(mount.list("threads/t").is_empty());
    mount.rejected_when(1);
    assert_eq!(save(&writer, DOC, "b'{\"a\":1}'"), Ok(()));
    assert_eq!(mount.read(DOC), r#"{"a":1}"#);
}
