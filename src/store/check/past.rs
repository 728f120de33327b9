//! History and touched entries are in order and needed by a reference.

use super::{Checker, Result, describe, key};
use crate::engine::Keyspace;
use crate::store::key::tag;
use crate::store::record::Header;
use crate::store::{Epoch, RealmId};

impl Checker<'_> {
    pub(super) fn past(&self, realm: RealmId) -> Result<()> {
        self.present_headers(realm)?;
        self.history(realm)?;
        self.touched(realm)
    }

    fn present_headers(&self, realm: RealmId) -> Result<()> {
        let (epoch, fork) = (self.epoch_of(realm), self.states.get(&realm).is_some_and(|s| s.record.base.is_some()));
        for kind in key::VERSIONED {
            self.pairs(Keyspace::Meta, &key::of_realm(kind, realm), &mut |key, raw| {
                // One that cannot be read is named where the records are.
                let Ok((header, _)) = Header::unwrap(raw) else { return Ok(()) };
                if header.born == 0 || header.born > epoch {
                    self.problem(format!("{} is of epoch {} of {epoch}", describe(realm, key), header.born));
                }
                if header.whiteout && !fork {
                    self.problem(format!("{} hides a base, but the realm has none", describe(realm, key)));
                }
                self.is_touched(realm, header.born, &key::record_part(key))
            })?;
        }
        Ok(())
    }

    fn history(&self, realm: RealmId) -> Result<()> {
        let refs = self.refs_of(realm);
        let epoch = self.epoch_of(realm);
        let mut before: Option<(Vec<u8>, Epoch)> = None;
        self.pairs(Keyspace::Meta, &key::of_realm(tag::HISTORY, realm), &mut |key, raw| {
            let Some((part, last)) = key::parse_history(key) else { return Ok(()) };
            self.count(|report| report.history += 1);
            let live = key::live(realm, part);
            let what = || format!("the value up to {last} of {}", describe(realm, &live));
            let Some((Header { born, .. }, _)) = self.sound(Header::unwrap(raw), what)? else { return Ok(()) };
            let wrong = |problem: &str| self.problem(format!("{}: {problem}", what()));
            if born == 0 || born > last || last >= epoch {
                wrong(&format!("it is from {born}, and now is {epoch}"));
            }
            if before.as_ref().is_some_and(|(earlier, end)| &earlier[..] == part && *end >= born) {
                wrong("it overlaps the value before it");
            }
            if let Some(raw) = self.view.get(Keyspace::Meta, &live)?
                && Header::unwrap(&raw).is_ok_and(|(present, _)| present.born <= last)
            {
                wrong("it overlaps the present value");
            }
            if self.is_settled(realm) && !refs.any_in(born, last) {
                wrong("no snapshot needs it");
            }
            self.is_touched(realm, born, part)?;
            self.is_touched(realm, last.saturating_add(1), part)?;
            before = Some((part.to_vec(), last));
            Ok(())
        })
    }

    fn touched(&self, realm: RealmId) -> Result<()> {
        let oldest = self.refs_of(realm).oldest();
        let epoch = self.epoch_of(realm);
        self.pairs(Keyspace::Meta, &key::of_realm(tag::TOUCHED, realm), &mut |key, value| {
            let Some((at, part)) = key::parse_touched(key) else { return Ok(()) };
            let wrong = |problem: &str| {
                self.problem(format!("the entry that {} changed in {at} {problem}", part.escape_ascii()));
            };
            if at > epoch {
                wrong(&format!("is from the future: now is {epoch}"));
            }
            if !value.is_empty() {
                wrong("has a value");
            }
            if self.is_settled(realm) && oldest.is_none_or(|oldest| at <= oldest) {
                wrong("is of no use: no snapshot is older");
            }
            Ok(())
        })
    }

    /// What changed since the oldest reference is in the index: restore, diff and the collector
    /// find it there only.
    pub(super) fn is_touched(&self, realm: RealmId, epoch: Epoch, part: &[u8]) -> Result<()> {
        if self.refs_of(realm).oldest().is_none_or(|oldest| epoch <= oldest) {
            return Ok(());
        }
        if self.view.get(Keyspace::Meta, &key::touched(realm, epoch, part))?.is_none() {
            let what = describe(realm, &key::live(realm, part));
            self.problem(format!("{what} changed in {epoch} and is not in the index of changes"));
        }
        Ok(())
    }
}
