//! Worker threads for scripts. A run is synchronous and needs a stack of a fixed size, so it must
//! not block an executor.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use async_channel::{Receiver, Sender, TryRecvError};

use crate::error::BuildError;
use crate::run::{Failure, Stage};
use crate::sandbox::calls::{CallArgs, Sandbox};
use crate::sandbox::instance::Instance;
use crate::sandbox::result::CallReport;
use crate::sandbox::snapshot::Snapshot;
use crate::sandbox::successors::LikelySuccessors;

/// Twice the stack of scripts: the rest is for the host's side of a call.
const THREAD_STACK: usize = 2 * hooks_script_engine::NATIVE_STACK;

/// Time for which a worker spins for the next hook of a stack: about the time of waking the task
/// that awaits the previous run and being woken by its next job.
const SPIN_TIME: Duration = Duration::from_micros(100);

/// Workers of an engine. They end when the last handle is dropped and the queue is empty.
pub(crate) struct Pool {
    jobs: Sender<Job>,
}

/// Arguments of a run.
pub(crate) struct RunJob {
    pub(crate) hook: Arc<Snapshot>,
    pub(crate) stage: Stage,
    pub(crate) input: Vec<u8>,
    pub(crate) given: CallArgs,
}

/// Arguments of loading a hook.
pub(crate) struct LoadJob {
    pub(crate) source: Vec<u8>,
    pub(crate) given: CallArgs,
}

enum Job {
    Run(RunJob, Sender<(CallReport, Duration)>),
    Load(LoadJob, Sender<(CallReport, Option<Arc<Snapshot>>)>),
}

impl Pool {
    pub(crate) fn start(
        sandbox: &Arc<Sandbox>,
        workers: usize,
        queue: usize,
    ) -> Result<Self, BuildError> {
        let (jobs, waiting) = async_channel::bounded(queue);
        for number in 0..workers {
            let (sandbox, waiting) = (Arc::clone(sandbox), waiting.clone());
            thread::Builder::new()
                .name(format!("hooks-script {number}"))
                .stack_size(THREAD_STACK)
                .spawn(move || work(&sandbox, &waiting))
                .map_err(|error| BuildError::Thread(error.to_string()))?;
        }
        Ok(Pool { jobs })
    }

    /// Waits for room in the queue, and for the run.
    pub(crate) async fn run(&self, start: RunJob) -> Option<(CallReport, Duration)> {
        let (answer, answered) = async_channel::bounded(1);
        self.jobs.send(Job::Run(start, answer)).await.ok()?;
        answered.recv().await.ok()
    }

    /// Loads a hook; blocks the current thread.
    pub(crate) fn load(&self, load: LoadJob) -> Option<(CallReport, Option<Arc<Snapshot>>)> {
        let (answer, answered) = async_channel::bounded(1);
        self.jobs.send_blocking(Job::Load(load, answer)).ok()?;
        answered.recv_blocking().ok()
    }
}

fn work(sandbox: &Sandbox, waiting: &Receiver<Job>) {
    let (mut kept, mut follows) = (None, LikelySuccessors::default());
    let mut expects = false;
    while let Some(job) = next(waiting, expects) {
        // A panic of the host ends this run, not the worker.
        let done = catch_unwind(AssertUnwindSafe(|| {
            perform(sandbox, &mut kept, &mut follows, job, waiting)
        }));
        expects = done.unwrap_or_else(|_| {
            tracing::error!("a worker of the script engine panicked; its run has failed");
            kept = None;
            false
        });
        // Reset after the result is sent, so that no task waits for it.
        kept = kept.filter(Instance::is_reusable);
    }
}

/// Returns the next job. `expects` is `true` if one is likely to arrive soon.
fn next(waiting: &Receiver<Job>, expects: bool) -> Option<Job> {
    if expects {
        let until = Instant::now() + SPIN_TIME;
        while Instant::now() < until {
            match waiting.try_recv() {
                Err(TryRecvError::Empty) => thread::yield_now(),
                job => return job.ok(),
            }
        }
    }
    waiting.recv_blocking().ok()
}

/// Performs a job. Returns `true` if another hook is likely to follow.
fn perform(
    sandbox: &Sandbox,
    kept: &mut Option<Instance>,
    follows: &mut LikelySuccessors,
    job: Job,
    waiting: &Receiver<Job>,
) -> bool {
    let mut instance = match kept {
        Some(instance) => Ok(instance),
        None => sandbox.instance().map(|instance| kept.insert(instance)),
    };
    // If the receiver was dropped, the result is discarded.
    match job {
        Job::Run(start, answer) => {
            let began = Instant::now();
            let report = match &mut instance {
                _ if start.given.cancelled.load(Relaxed) => return false,
                _ if start
                    .given
                    .allowance
                    .deadline
                    .is_some_and(|until| until <= began) =>
                {
                    CallReport::failed(Failure::NoWorker)
                }
                Err(failure) => CallReport::failed(failure.clone()),
                Ok(instance) => sandbox.run(
                    instance,
                    &start.hook,
                    start.stage,
                    &start.input,
                    &start.given,
                ),
            };
            let _ = answer.try_send((report, began.elapsed()));
            let likely = follows.record(&start.hook);
            // If other jobs are queued, the first of them determines the next state.
            if let (Ok(instance), true) = (instance, waiting.is_empty()) {
                instance.prepare(&likely);
            }
            !Arc::ptr_eq(&likely, &start.hook)
        }
        Job::Load(load, answer) => {
            let loaded = match instance {
                Err(failure) => (CallReport::failed(failure), None),
                Ok(instance) => sandbox.load(instance, &load.source, &load.given),
            };
            let _ = answer.try_send(loaded);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use futures_executor::block_on;

    use super::{LoadJob, Pool, RunJob};
    use crate::limits::Limits;
    use crate::run::Stage;
    use crate::sandbox::calls::{CallArgs, Sandbox};
    use crate::sandbox::result::CallEnd;

    fn args() -> CallArgs {
        CallArgs {
            now_ms: 0,
            seed: 1,
            cancelled: Arc::default(),
            allowance: Default::default(),
        }
    }

    #[test]
    fn workers_exit_when_the_last_pool_handle_is_dropped() {
        let sandbox = Arc::new(Sandbox::new(Limits::default(), false).unwrap());
        let pool = Pool::start(&sandbox, 3, 1).unwrap();
        let source = b"export default () => ({ out: {} });";
        let load = || {
            let (source, given) = (source.to_vec(), args());
            pool.load(LoadJob { source, given }).unwrap().1.unwrap()
        };
        let hooks = [load(), load()];
        // Runs in the order of a stack, so that some workers wait for a hook that does not come.
        for hook in hooks.iter().cycle().take(24) {
            let start = RunJob {
                hook: Arc::clone(hook),
                stage: Stage::Pre,
                input: br#"{"stage":"pre","in":{},"data":{}}"#.to_vec(),
                given: args(),
            };
            let (report, _) = block_on(pool.run(start)).unwrap();
            assert!(matches!(report.ended, CallEnd::Returned(..)), "{report:?}");
        }
        drop(pool);
        // Each worker holds the sandbox.
        for _ in 0..10_000 {
            if Arc::strong_count(&sandbox) == 1 {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("{} workers are left", Arc::strong_count(&sandbox) - 1);
    }
}
