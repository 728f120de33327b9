//! A versioned record in time: which of its values held at an epoch.
//!
//! The newest value is under the record's live key. Values that a snapshot needs moved to
//! history keys, each named by the last epoch in which it held. So at epoch `s` the value is the
//! history entry with the smallest `last >= s`, or the live one if there is none; and it holds
//! only if it was born at `s` or before, else the record did not exist then.

use super::record::Header;
use super::{Epoch, Error, Result, key};
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
    pub(super) fn of(raw: &[u8], at: Epoch) -> Result<Own> {
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
    // The present first: what a change replaces moves to the past in the same batch, so whoever
    // finds the newer value finds the older one too.
    match in_present(view, live, epoch)? {
        Some(own) => Ok(own),
        None => in_past(view, live, epoch),
    }
}

/// What the live record says of an epoch; None if it says nothing, and the past decides.
pub(super) fn in_present(view: &dyn View, live: &[u8], epoch: Epoch) -> Result<Option<Own>> {
    match view.get(Keyspace::Meta, live)? {
        Some(raw) if Header::unwrap(&raw)?.0.born <= epoch => Own::of(&raw, epoch).map(Some),
        _ => Ok(None),
    }
}

/// What the history says of an epoch that the live record says nothing of.
pub(super) fn in_past(view: &dyn View, live: &[u8], epoch: Epoch) -> Result<Own> {
    let realm = key::realm_of(live).ok_or_else(|| Error::corrupt("a key is too short"))?;
    let part = key::record_part(live);
    let from = key::history(realm, &part, Some(epoch));
    let to = key::after(&key::history(realm, &part, None));
    match view.first(Keyspace::Meta, &from, &to)? {
        Some((_, raw)) => Own::of(&raw, epoch),
        None => Ok(Own::Gap),
    }
}
