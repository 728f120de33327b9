//! Which of its own snapshots the daemon keeps.

use std::collections::HashSet;

use crate::fs::FsOptions;
use crate::fs::virtualdir::rfc3339;
use crate::store::Epoch;
use crate::store::record::{SnapshotKind, SnapshotRecord, Timestamp};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

/// A time as it stands in a snapshot's name: 20261130T115500.123Z.
pub(super) fn stamp(time: Timestamp) -> String {
    rfc3339(time).replace(['-', ':'], "")
}

/// The snapshots to drop, of a realm's snapshots from old to new. Those that users took stay. Of the
/// daemon's, the newest stay, then the newest of each minute for an hour, of each hour for a day,
/// and of each day for the days to retain.
pub(super) fn unkept(snapshots: &[(Epoch, SnapshotRecord)], now: Timestamp, options: &FsOptions) -> Vec<Epoch> {
    let automatic = snapshots.iter().rev().filter(|(_, record)| record.kind == SnapshotKind::Automatic);
    let mut taken = HashSet::new();
    automatic
        .skip(options.snapshot_versions as usize)
        .filter(|(_, record)| {
            let age = now.secs - record.time.secs;
            let period = match age {
                age if age < HOUR => MINUTE,
                age if age < DAY => HOUR,
                age if age < options.snapshot_days as i64 * DAY => DAY,
                _ => return true,
            };
            // The first that is met is the newest of its period.
            !taken.insert((period, record.time.secs.div_euclid(period)))
        })
        .map(|(epoch, _)| *epoch)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(epoch: Epoch, secs: i64, kind: SnapshotKind) -> (Epoch, SnapshotRecord) {
        let time = Timestamp { secs, nanos: 0 };
        (epoch, SnapshotRecord { time, ..SnapshotRecord::new(kind, Vec::new(), "") })
    }

    const NOON: i64 = 1_796_040_000;

    #[test]
    fn at_noon_five_to_noon_can_be_read() {
        // One a second for three hours.
        let all: Vec<_> =
            (0..3 * HOUR).map(|i| snapshot(i as u64 + 1, NOON - 3 * HOUR + i, SnapshotKind::Automatic)).collect();
        let dropped: HashSet<Epoch> =
            unkept(&all, Timestamp { secs: NOON, nanos: 0 }, &FsOptions::default()).into_iter().collect();
        let kept: Vec<i64> =
            all.iter().filter(|(epoch, _)| !dropped.contains(epoch)).map(|(_, record)| record.time.secs).collect();
        assert!(kept.len() <= 20 + 60 + 3, "{} are kept", kept.len());
        let at = |time: i64| kept.iter().rev().find(|kept| **kept <= time).map(|kept| time - kept);
        assert_eq!(at(NOON - 1), Some(0));
        assert!(at(NOON - 300).unwrap() < MINUTE);
        assert!(at(NOON - 2 * HOUR).unwrap() < HOUR);
    }

    #[test]
    fn named_ones_stay_and_old_ones_go() {
        let options = FsOptions { snapshot_versions: 0, ..FsOptions::default() };
        let all = vec![
            snapshot(1, NOON - 30 * DAY, SnapshotKind::Named),
            snapshot(2, NOON - 30 * DAY, SnapshotKind::Automatic),
            snapshot(3, NOON - 10, SnapshotKind::Automatic),
        ];
        assert_eq!(unkept(&all, Timestamp { secs: NOON, nanos: 0 }, &options), [2]);
    }

    #[test]
    fn names() {
        assert_eq!(stamp(Timestamp { secs: NOON, nanos: 123_000_000 }), "20261130T120000.123Z");
    }
}
