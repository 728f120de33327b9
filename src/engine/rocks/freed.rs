//! Where data was deleted since space was last given back.

use parking_lot::Mutex;

use crate::engine::{Keyspace, Op};

/// Ranges that are kept apart; beyond it one range covers all.
const RANGES: usize = 256;

type Range = (Vec<u8>, Vec<u8>);

/// Ranges of deleted keys in the `data` keyspace: each from its first key to its last.
#[derive(Debug, Default)]
pub(super) struct Freed {
    ranges: Mutex<Vec<Range>>,
}

impl Freed {
    /// Notes the deletions of a batch.
    pub(super) fn note(&self, ops: &[Op]) {
        let deleted = ops.iter().filter_map(|op| match op {
            Op::Delete(Keyspace::Data, key) => Some(key),
            _ => None,
        });
        let Some((first, last)) = deleted.fold(None, |range: Option<(&Vec<u8>, &Vec<u8>)>, key| match range {
            None => Some((key, key)),
            Some((first, last)) => Some((first.min(key), last.max(key))),
        }) else {
            return;
        };
        let mut ranges = self.ranges.lock();
        ranges.push((first.clone(), last.clone()));
        if ranges.len() > RANGES {
            let all = ranges.drain(..).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
            ranges.extend(all);
        }
    }

    /// The ranges so far.
    pub(super) fn take(&self) -> Vec<Range> {
        std::mem::take(&mut self.ranges.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delete(key: &[u8]) -> Op {
        Op::Delete(Keyspace::Data, key.to_vec())
    }

    #[test]
    fn ranges_cover_what_was_deleted() {
        let freed = Freed::default();
        freed.note(&[Op::Put(Keyspace::Data, b"a".to_vec(), Vec::new()), Op::Delete(Keyspace::Meta, b"b".to_vec())]);
        assert!(freed.take().is_empty());
        freed.note(&[delete(b"d"), delete(b"c")]);
        assert_eq!(freed.take(), [(b"c".to_vec(), b"d".to_vec())]);
        for number in 0..=RANGES {
            freed.note(&[delete(&(number as u32).to_be_bytes())]);
        }
        assert_eq!(freed.take(), [(0u32.to_be_bytes().to_vec(), (RANGES as u32).to_be_bytes().to_vec())]);
        assert!(freed.take().is_empty());
    }
}
