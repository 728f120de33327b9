//! Ordinary files: what was written survives the daemon, fsync or not.

use crate::load::{Load, rounds};

#[test]
fn every_acknowledged_write_is_there() {
    let script = include_str!("py/files.py");
    rounds(
        3,
        |mount, round| {
            ["fsync", "plain", "append"]
                .iter()
                .map(|mode| Load::start(mount, script, &[mode, &round.to_string()]))
                .collect()
        },
        |mount, round, acknowledged| {
            for (mode, lines) in ["fsync", "plain", "append"].iter().zip(&acknowledged) {
                let Some(last) = lines.last() else { continue };
                let length = last["size"].as_u64().unwrap() as usize;
                let content = std::fs::read(mount.at(format!("{mode}-{round}"))).unwrap();
                assert!(content.len() >= length, "{mode}: {} of {length} bytes", content.len());
                // Byte n of the file is a function of n.
                let wrong = content[..length].iter().enumerate().find(|(n, byte)| **byte != (n / 7 % 251) as u8);
                assert_eq!(wrong, None, "{mode}");
            }
        },
    );
}
