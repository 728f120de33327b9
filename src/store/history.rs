//! A versioned record in time: which of its values held at an epoch.
//!
//! The newest value is under the record's live key. Values that a snapshot needs moved to
//! history keys, each named by the last epoch in which it held. So at epoch `s` the value is the
//! history entry with the smallest `last >= s`, or the live one if there is none; and it holds
//! only if it was born at `s` or before, else the record did not exist then.

use std::collections::BTreeSet;
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
    let from = key::history(realm, &part, Some(epoch));
    let to = key::after(&key::history(realm, &part, None));
    let past = || match view.first(Keyspace::Meta, &from, &to)? {
        Some((_, raw)) => Own::of(&raw, epoch).map(Some),
        None => Ok(None),
    };
    if let Some(own) = past()? {
        return Ok(own);
    }
    let present = match view.get(Keyspace::Meta, live)? {
        Some(raw) => Own::of(&raw, epoch)?,
        None => Own::Gap,
    };
    // Between the two looks a change may have moved the value behind the first of them.
    match present {
        Own::Gap => Ok(past()?.unwrap_or(Own::Gap)),
        own => Ok(own),
    }
}

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

    fn bounds(&self, key: impl Fn(&[u8]) -> Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let kind = self.from.get(..1).unwrap_or_default();
        let to = if self.to.is_empty() { key::after(&key(kind)) } else { key(&self.to) };
        (key(&self.from), to)
    }
}

/// Adds a realm's record parts, live or past, that are in a range.
pub(super) fn parts(view: &dyn View, realm: RealmId, range: &Parts, found: &mut BTreeSet<Vec<u8>>) -> Result<()> {
    let (from, to) = range.bounds(|part| key::live(realm, part));
    view.scan(Keyspace::Meta, &from, &to, &mut |key, _| {
        found.insert(key::record_part(key));
        ControlFlow::Continue(())
    })?;
    // The same range among the history keys, each with an epoch behind it: so the entries of a
    // record before a bound that only adds a byte to its key are in it too.
    let (from, to) = range.bounds(|part| key::history(realm, part, None));
    view.scan(Keyspace::Meta, &from, &to, &mut |key, _| {
        if let Some((part, _)) = key::parse_history(key)
            && part >= &range.from[..]
        {
            found.insert(part.to_vec());
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
