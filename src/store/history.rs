//! A versioned record in time: which of its values held at an epoch.
//!
//! The newest value is under the record's live key. Values that a snapshot needs moved to
//! history keys, each named by the last epoch in which it held. So at epoch `s` the value is the
//! history entry with the smallest `last >= s`, or the live one if there is none; and it holds
//! only if it was born at `s` or before, else the record did not exist then.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::record::Header;
use super::{Epoch, Error, RealmId, Result, key};
use crate::engine::{Keyspace, View};

/// What one realm by itself says of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Own {
    /// It has this value.
    Value(Vec<u8>),
    /// It does not exist, whatever the base says.
    Whiteout,
    /// Nothing: of a fork, the base decides.
    Gap,
}

impl Own {
    fn of(raw: &[u8], at: Epoch) -> Result<Own> {
        let (header, payload) = Header::unwrap(raw)?;
        Ok(match header {
            Header { born, .. } if born > at => Own::Gap,
            Header { whiteout: true, .. } => Own::Whiteout,
            _ => Own::Value(payload.to_vec()),
        })
    }
}

/// What a realm says of a record now.
pub(super) fn now(view: &dyn View, live: &[u8]) -> Result<Own> {
    match view.get(Keyspace::Meta, live)? {
        Some(raw) => Own::of(&raw, Epoch::MAX),
        None => Ok(Own::Gap),
    }
}

/// What a realm said of a record at an epoch.
pub(super) fn at(view: &dyn View, live: &[u8], epoch: Epoch) -> Result<Own> {
    let realm = key::realm_of(live).ok_or_else(|| Error::corrupt("a key is too short"))?;
    let part = key::record_part(live);
    // The present first: what a change replaces moves to the past in the same batch, so whoever
    // finds the newer value finds the older one too.
    if let Some(raw) = view.get(Keyspace::Meta, live)?
        && Header::unwrap(&raw)?.0.born <= epoch
    {
        return Own::of(&raw, epoch);
    }
    let from = key::history(realm, &part, Some(epoch));
    let to = key::after(&key::history(realm, &part, None));
    match view.first(Keyspace::Meta, &from, &to)? {
        Some((_, raw)) => Own::of(&raw, epoch),
        None => Ok(Own::Gap),
    }
}

/// What a realm says of a record whose live value, or the lack of one, is known: now, or at an epoch.
pub(super) fn with_live(view: &dyn View, live: &[u8], value: Option<&[u8]>, at_epoch: Option<Epoch>) -> Result<Own> {
    match (value, at_epoch) {
        (Some(raw), None) => Own::of(raw, Epoch::MAX),
        (None, None) => Ok(Own::Gap),
        (Some(raw), Some(epoch)) if Header::unwrap(raw)?.0.born <= epoch => Own::of(raw, epoch),
        (_, Some(epoch)) => at(view, live, epoch),
    }
}

/// Records whose parts are listed in one go, from each layer.
const STEP: usize = 256;

/// Record parts from one on and up to another; an empty end means all the rest of the kind.
pub(super) struct Parts {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Parts {
    /// Of the live keys `from..to`, which lie within one kind and one realm.
    pub(super) fn between(from: &[u8], to: &[u8]) -> Parts {
        // What ends a whole kind is the next realm's first key: no record part says that.
        let within = from.get(..5) == to.get(..5);
        Parts { from: key::record_part(from), to: if within { key::record_part(to) } else { Vec::new() } }
    }

    /// Goes on behind a part.
    pub(super) fn start_behind(&mut self, part: &[u8]) {
        self.from = part.to_vec();
        self.from.push(0);
    }

    fn bounds(&self, key: impl Fn(&[u8]) -> Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let kind = self.from.get(..1).unwrap_or_default();
        let to = if self.to.is_empty() { key::after(&key(kind)) } else { key(&self.to) };
        (key(&self.from), to)
    }
}

/// Where a record part was met: in which of the layers, and its live value there.
pub(super) struct Met {
    pub(super) layer: usize,
    pub(super) live: Option<Vec<u8>>,
}

/// Record parts, and where each was met: the uppermost layer first.
pub(super) type Found = BTreeMap<Vec<u8>, Vec<Met>>;

/// Adds a realm's first record parts, live or past, that are in a range and not behind `end`. If
/// there are more of them, `end` becomes the last one that was added.
pub(super) fn parts(
    view: &dyn View,
    (layer, realm): (usize, RealmId),
    range: &Parts,
    end: &mut Option<Vec<u8>>,
    found: &mut Found,
) -> Result<()> {
    let (from, to) = range.bounds(|part| key::live(realm, part));
    let mut count = 0;
    let mut add = |part: Vec<u8>, live: Option<&[u8]>, end: &mut Option<Vec<u8>>| {
        if end.as_ref().is_some_and(|end| part > *end) {
            return ControlFlow::Break(());
        }
        count += 1;
        let is_last = count >= STEP;
        if is_last {
            count = 0;
            *end = Some(part.clone());
        }
        let met = found.entry(part).or_default();
        if met.last().is_none_or(|met| met.layer != layer) {
            met.push(Met { layer, live: live.map(<[u8]>::to_vec) });
        }
        if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    view.scan(Keyspace::Meta, &from, &to, &mut |key, live| add(key::record_part(key), Some(live), end))?;
    // The same range among the history keys, each with an epoch behind it: so the entries of a
    // record before a bound that only adds a byte to its key are in it too.
    let (mut from, to) = range.bounds(|part| key::history(realm, part, None));
    let mut go_on = true;
    while go_on {
        go_on = false;
        let mut last: Option<Vec<u8>> = None;
        let mut again = 0;
        let start = std::mem::take(&mut from);
        view.scan(Keyspace::Meta, &start, &to, &mut |key, _| {
            let Some((part, _)) = key::parse_history(key) else { return ControlFlow::Continue(()) };
            if last.as_deref() == Some(part) {
                again += 1;
                if again < STEP {
                    return ControlFlow::Continue(());
                }
                // A record with a long past: the scan starts anew behind it.
                from = key::after(&key::history(realm, part, None));
                go_on = true;
                return ControlFlow::Break(());
            }
            (last, again) = (Some(part.to_vec()), 0);
            if part < &range.from[..] { ControlFlow::Continue(()) } else { add(part.to_vec(), None, end) }
        })?;
    }
    Ok(())
}
