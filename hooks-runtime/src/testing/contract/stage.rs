//! Runs a case in a separate thread and tokio runtime, with a timeout from outside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use hooks_core::__private::drop_catching_panic;
use tokio::runtime::Builder;

use super::case::ContractCase;
use super::subject::{Finding, Subject};
use super::trial::Trial;
use super::watch::{Watch, panic_message};

/// Time beyond its timeout after which a call has blocked its thread.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a case to its end, or until the hook blocks its thread.
pub(super) fn perform(case: &ContractCase, subject: &Subject) -> Result<(), Finding> {
    let watch = Arc::new(Watch::new());
    let (done, outcome) = mpsc::channel();
    let (case, tested, seen) = (*case, subject.clone(), Arc::clone(&watch));
    let thread = thread::Builder::new().name(case.name.to_owned());
    let thread = thread.spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| play(&case, &tested, &seen)));
        let outcome = outcome.unwrap_or_else(|payload| {
            Err(Finding {
                sent: seen.sent(),
                came: format!("a panic outside of a call: {}", panic_message(&*payload)),
            })
        });
        // After a timeout the receiver is gone.
        let _ = done.send(outcome);
    });
    if let Err(error) = thread {
        panic!("the system has no thread for a case: {error}");
    }
    let limit = subject.limit.saturating_add(GRACE);
    loop {
        let left = limit.saturating_sub(watch.elapsed());
        if left.is_zero() {
            return Err(Finding {
                sent: watch.sent(),
                came: format!(
                    "no answer: its thread is blocked for more than {:?}",
                    subject.limit
                ),
            });
        }
        match outcome.recv_timeout(left) {
            Ok(outcome) => return outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Finding {
                    sent: watch.sent(),
                    came: "the end of its thread".to_owned(),
                });
            }
        }
    }
}

fn play(case: &ContractCase, subject: &Subject, watch: &Arc<Watch>) -> Result<(), Finding> {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the system has no runtime for a case: {error}"),
    };
    let outcome = runtime.block_on(async {
        let mut trial = Trial::new(subject, Arc::clone(watch));
        let outcome = (case.run)(&mut trial).await;
        // Within the runtime, which the hook's drop may need.
        drop_catching_panic(trial);
        outcome
    });
    // Tasks of a hook may never end.
    runtime.shutdown_background();
    outcome
}
