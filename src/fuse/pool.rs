//! Threads for what waits: syncs, the checking of large documents, and what is asked of the history.
//!
//! A thread that serves requests must come back for the next one soon. And what tells the kernel of changes
//! waits for locks of directories, which whoever waits for a sync may hold: so that has threads of its own.

use std::sync::{Arc, mpsc};
use std::thread;

use parking_lot::Mutex;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads and a queue.
pub(super) struct Pool {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
}

impl Pool {
    /// Starts the threads.
    pub(super) fn new(name: &str, threads: usize) -> Pool {
        let (sender, receiver) = mpsc::channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        for number in 0..threads {
            let receiver = Arc::clone(&receiver);
            let spawned = thread::Builder::new().name(format!("{name}-{number}")).spawn(move || {
                loop {
                    let job = receiver.lock().recv();
                    match job {
                        Ok(job) => job(),
                        Err(mpsc::RecvError) => return,
                    }
                }
            });
            if let Err(error) = spawned {
                log::error!("a thread could not be started: {error}");
            }
        }
        Pool { jobs: Mutex::new(Some(sender)) }
    }

    /// Runs a job soon; at once and here, if there is no thread to do it.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let sender = self.jobs.lock().clone();
        match sender {
            Some(sender) => {
                if let Err(mpsc::SendError(job)) = sender.send(Box::new(job)) {
                    job();
                }
            }
            None => job(),
        }
    }

    /// Lets the threads end when the queue is empty.
    pub(super) fn close(&self) {
        self.jobs.lock().take();
    }
}
