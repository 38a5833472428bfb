//! The sandbox on this very thread, as a worker uses it, without the way to the worker.

use std::sync::Arc;
use std::time::Instant;

use crate::limits::Limits;
use crate::run::Stage;
use crate::sandbox::instance::Instance;
use crate::sandbox::{Ended, Given, Sandbox, Snapshot, Status};
use crate::time::micros;

pub(crate) struct Isolated<'a> {
    sandbox: &'a Sandbox,
    instance: Instance,
    hook: Arc<Snapshot>,
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(Limits::default(), false).expect("the engine starts")
}

fn given() -> Given {
    Given {
        now_ms: 0,
        seed: 1,
        cancelled: Arc::default(),
    }
}

impl<'a> Isolated<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox, source: &str) -> Self {
        let mut instance = sandbox.instance().expect("there is memory");
        let (_, hook) = sandbox.load(&mut instance, source.as_bytes(), &given());
        Isolated {
            sandbox,
            instance,
            hook: hook.expect("it can be loaded"),
        }
    }

    /// A run, with the reset before it.
    pub(crate) fn run(&mut self, input: &[u8]) -> u64 {
        let hook = &self.hook;
        let report = self
            .sandbox
            .run(&mut self.instance, hook, Stage::Pre, input, &given());
        assert!(
            matches!(report.ended, Ended::Returned(Status::Done, _)),
            "{report:?}"
        );
        report.fuel
    }

    /// Microseconds of a reset alone, after a run; and of a run after one.
    pub(crate) fn parts(&mut self, input: &[u8], rounds: usize) -> (f64, f64) {
        let (mut resets, mut runs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let began = Instant::now();
            self.run(input);
            runs.push(micros(began.elapsed()));
            let began = Instant::now();
            self.instance.prepare(&self.hook);
            resets.push(micros(began.elapsed()));
        }
        (crate::time::median(resets), crate::time::median(runs))
    }

    /// Bytes of the hook's snapshot.
    pub(crate) fn bytes(&self) -> usize {
        self.hook.bytes()
    }
}
