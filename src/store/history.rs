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
    if let Some((_, raw)) = view.first(Keyspace::Meta, &from, &to)? {
        return Own::of(&raw, epoch);
    }
    match view.get(Keyspace::Meta, live)? {
        Some(raw) => Own::of(&raw, epoch),
        None => Ok(Own::Gap),
    }
}

/// Adds the record parts of a realm, live or past, whose live keys are in `from..to`.
pub(super) fn parts(
    view: &dyn View,
    realm: RealmId,
    from: &[u8],
    to: &[u8],
    found: &mut BTreeSet<Vec<u8>>,
) -> Result<()> {
    view.scan(Keyspace::Meta, from, to, &mut |key, _| {
        found.insert(key::record_part(key));
        ControlFlow::Continue(())
    })?;
    // The same range among the history keys.
    let history = |live: &[u8]| key::history(realm, &key::record_part(live), None);
    view.scan(Keyspace::Meta, &history(from), &history(to), &mut |key, _| {
        if let Some((part, _)) = key::parse_history(key) {
            found.insert(part.to_vec());
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
