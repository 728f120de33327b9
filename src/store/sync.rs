//! Group commit of explicit syncs.
//!
//! A sync covers everything that was committed before it began. So of all callers that wait
//! while one runs, a single further sync serves every one.

use parking_lot::{Condvar, Mutex};

use crate::engine::Result;

#[derive(Debug, Default)]
struct State {
    /// Syncs begun.
    begun: u64,
    /// The newest of them that has ended, with what it gave.
    ended: u64,
    running: bool,
    failure: Option<(u64, crate::engine::Error)>,
}

#[derive(Debug, Default)]
pub(super) struct SyncGroup {
    state: Mutex<State>,
    changed: Condvar,
}

impl SyncGroup {
    /// Returns when a call of `sync` that began after this call has ended.
    pub(super) fn sync(&self, sync: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut state = self.state.lock();
        let wanted = state.begun + 1;
        while state.running {
            self.changed.wait(&mut state);
            if state.ended >= wanted {
                return match &state.failure {
                    Some((number, error)) if *number >= wanted => Err(error.clone()),
                    _ => Ok(()),
                };
            }
        }
        state.begun += 1;
        state.running = true;
        let mine = state.begun;
        drop(state);
        let result = sync();
        let mut state = self.state.lock();
        state.running = false;
        state.ended = mine;
        if let Err(error) = &result {
            state.failure = Some((mine, error.clone()));
        }
        self.changed.notify_all();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn waiting_callers_share_the_next_sync() {
        let group = SyncGroup::default();
        let syncs = AtomicU64::new(0);
        let gate = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                group.sync(|| {
                    gate.wait(); // the first is running
                    gate.wait(); // the others are waiting
                    syncs.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                })
            });
            gate.wait();
            let waiters: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        group.sync(|| {
                            syncs.fetch_add(1, Ordering::SeqCst);
                            Ok(())
                        })
                    })
                })
                .collect();
            std::thread::sleep(std::time::Duration::from_millis(50)); // only makes sharing likelier
            gate.wait();
            for waiter in waiters {
                waiter.join().unwrap().unwrap();
            }
        });
        assert!(syncs.load(Ordering::SeqCst) <= 9);
        assert!(syncs.load(Ordering::SeqCst) >= 2, "the first one does not serve who came while it ran");
    }
}
