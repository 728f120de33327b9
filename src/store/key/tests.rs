use super::*;

const R: RealmId = RealmId(7);

#[test]
fn keys_are_read_back() {
    let key = dirent(R, Local(3), 0x0102_0304_0506_0708, b"name");
    assert_eq!(parse_dirent(&key), Some((Local(3), 0x0102_0304_0506_0708, &b"name"[..])));
    assert_eq!(live(R, &record_part(&key)), key);
    let entry = history(R, &record_part(&key), Some(9));
    assert_eq!(parse_history(&entry), Some((&record_part(&key)[..], 9)));
    let link_key = link(RealmId(0), R, Local(1), Local(5), b"t\xff");
    assert_eq!(parse_link(&link_key), Some(((R, Local(1)), Local(5), &b"t\xff"[..])));
    let chunk_key = chunk(R, Local(3), 2, 8, 11);
    let parsed = parse_chunk(&chunk_key).unwrap();
    assert_eq!((parsed.ino, parsed.generation, parsed.index, parsed.epoch), (Local(3), 2, 8, 11));
    assert!(chunk_key.starts_with(&chunk_versions_of_part(R, &chunk_part(Local(3), 2, 8))));
}

#[test]
fn newer_chunks_come_first() {
    assert!(chunk(R, Local(3), 0, 0, 12) < chunk(R, Local(3), 0, 0, 11));
}

#[test]
fn no_record_key_is_a_prefix_of_another() {
    let short = dirent(R, Local(3), 5, b"a");
    let long = dirent(R, Local(3), 5, b"a\x01");
    assert!(!long.starts_with(&short));
}

#[test]
fn the_end_of_a_prefix() {
    assert_eq!(after(b"ab"), b"ac");
    assert_eq!(after(b"a\xff"), b"b");
    assert_eq!(after(b"\xff\xff"), b"");
}
