//! Going through records of one kind in several realms at once: a fork and what lies below it.
//!
//! Each layer has a place among the live records and, if it shows a past epoch, one among the history. All
//! places go forward together, so a listing costs what it shows, however much lies behind.

use super::history::Own;
use super::record::Header;
use super::{Epoch, RealmId, Result, VisitRecord, key};
use crate::engine::{Cursor, Keyspace, View};

/// History entries of one record that are passed one by one before they are jumped over.
const STEPS: usize = 4;

/// The records of one realm in a range, as they are now or as they were at an epoch.
pub(super) struct Layer<'v> {
    realm: RealmId,
    at: Option<Epoch>,
    kind: u8,
    live: Box<dyn Cursor + 'v>,
    past: Option<Box<dyn Cursor + 'v>>,
}

impl<'v> Layer<'v> {
    /// The range is that of the live keys `from..to`, which lie within one kind of some realm. Without its past a
    /// layer is one in which nothing was changed since the epoch.
    pub(super) fn new(
        view: &'v dyn View,
        (realm, at): (RealmId, Option<Epoch>),
        with_past: bool,
        (from, to): (&[u8], &[u8]),
    ) -> Result<Layer<'v>> {
        let part = key::record_part(from);
        let kind = part.first().copied().unwrap_or_default();
        // What ends a whole kind is the next realm's first key: no record part says that.
        let to = (from.get(..5) == to.get(..5)).then(|| key::record_part(to));
        let range = |key: &dyn Fn(&[u8]) -> Vec<u8>| {
            (key(&part), to.as_ref().map_or_else(|| key::after(&key(&[kind])), |to| key(to)))
        };
        let (first, end) = range(&|part| key::live(realm, part));
        let live = view.cursor(Keyspace::Meta, &first, &end)?;
        let past = match with_past {
            false => None,
            true => {
                let (first, end) = range(&|part| key::history(realm, part, None));
                Some(view.cursor(Keyspace::Meta, &first, &end)?)
            }
        };
        let mut layer = Layer { realm, at, kind, live, past };
        // The entries of a record before a bound that only adds bytes to its key are among them too.
        while layer.past_head().is_some_and(|head| head < part.get(1..).unwrap_or_default()) {
            layer.advance_past()?;
        }
        Ok(layer)
    }

    /// The next record: its key without kind and realm.
    pub(super) fn head(&self) -> Option<&[u8]> {
        match (self.live_head(), self.past_head()) {
            (Some(live), Some(past)) => Some(live.min(past)),
            (live, past) => live.or(past),
        }
    }

    fn live_head(&self) -> Option<&[u8]> {
        self.live.item().and_then(|(key, _)| key.get(5..))
    }

    fn past_head(&self) -> Option<&[u8]> {
        let (key, _) = self.past.as_ref()?.item()?;
        key::parse_history(key).and_then(|(part, _)| part.get(1..))
    }

    fn advance_past(&mut self) -> Result<()> {
        Ok(self.past.as_mut().map_or(Ok(()), |past| past.advance())?)
    }

    /// Visits what is left, of a layer without its past.
    fn visit_live(&mut self, mut live: Vec<u8>, visit: VisitRecord<'_>) -> Result<()> {
        let epoch = self.at.unwrap_or(Epoch::MAX);
        while let Some((key, raw)) = self.live.item() {
            let (header, payload) = Header::unwrap(raw)?;
            if header.born <= epoch && !header.whiteout {
                live.truncate(5);
                live.extend_from_slice(key.get(5..).unwrap_or_default());
                if visit(&live, payload)?.is_break() {
                    break;
                }
            }
            self.live.advance()?;
        }
        Ok(())
    }

    /// What the layer says of a record, if that is the next one; it goes on to the one behind it.
    pub(super) fn take(&mut self, rest: &[u8]) -> Result<Own> {
        let epoch = self.at.unwrap_or(Epoch::MAX);
        let mut own = Own::Gap;
        let mut is_told = false;
        if self.live_head() == Some(rest) {
            if let Some((_, raw)) = self.live.item() {
                is_told = Header::unwrap(raw)?.0.born <= epoch;
                own = Own::of(raw, epoch)?;
            }
            self.live.advance()?;
        }
        let mut steps = 0;
        while self.past_head() == Some(rest) {
            let entry = self.past.as_ref().and_then(|past| past.item());
            let last = entry.and_then(|(key, _)| key::parse_history(key)).map_or(0, |(_, last)| last);
            if !is_told && last >= epoch {
                is_told = true;
                own = entry.map_or(Ok(Own::Gap), |(_, raw)| Own::of(raw, epoch))?;
            }
            steps += 1;
            if steps < STEPS {
                self.advance_past()?;
                continue;
            }
            steps = 0;
            let part = [&[self.kind], rest].concat();
            let to = match is_told {
                true => key::after(&key::history(self.realm, &part, None)),
                false => key::history(self.realm, &part, Some(epoch)),
            };
            if let Some(past) = &mut self.past {
                past.seek(&to)?;
            }
        }
        Ok(own)
    }
}

/// Visits what the layers show together, the first of them on top, under the live keys of the realm of `from`.
pub(super) fn visit(mut layers: Vec<Layer<'_>>, from: &[u8], visit: VisitRecord<'_>) -> Result<()> {
    layers.retain(|layer| layer.head().is_some());
    let mut live = from.get(..5).unwrap_or_default().to_vec();
    if let [only] = &mut layers[..]
        && only.past.is_none()
    {
        return only.visit_live(live, visit);
    }
    let mut rest = Vec::new();
    while let Some(next) = layers.iter().filter_map(|layer| layer.head()).min() {
        rest.clear();
        rest.extend_from_slice(next);
        let mut shown = Own::Gap;
        for layer in &mut layers {
            if layer.head() == Some(&rest[..]) {
                let own = layer.take(&rest)?;
                if shown == Own::Gap {
                    shown = own;
                }
            }
        }
        if let Own::Value(value) = shown {
            live.truncate(5);
            live.extend_from_slice(&rest);
            if visit(&live, &value)?.is_break() {
                break;
            }
        }
    }
    Ok(())
}
