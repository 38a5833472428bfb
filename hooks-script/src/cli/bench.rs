//! `hooks-script bench`: runs hooks repeatedly and reports their latency on this machine.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{ContextData, RunResult, ScriptEngine, Stage};

use super::{
    CommandError, FAILED, REJECTED, STOPPED, build_engine, context, is_written,
    print_registration_error, read, register, show,
};

#[derive(Args)]
pub(super) struct BenchArgs {
    /// Hook sources: one JavaScript module each.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Manifest for all hooks, in JSON. Default: they see all of `data`.
    #[arg(long)]
    manifest: Option<PathBuf>,
    /// Input of the hooks, in JSON: {"stage", "in", "data"}. Default: a short message.
    #[arg(long)]
    context: Option<PathBuf>,
    /// Number of runs of each hook.
    #[arg(long, value_name = "K", default_value = "1000")]
    runs: NonZeroU32,
    /// Prints JSON, one object per hook.
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    pub(super) fn run(self) -> Result<u8, CommandError> {
        let (stage, message, data, fields, keys) = match &self.context {
            Some(path) => context(path)?,
            None => {
                let mut message = Map::new();
                message.insert("text".to_owned(), "hello world".into());
                let (data, fields) = Default::default();
                (Stage::Pre, message, data, fields, Vec::new())
            }
        };
        let engine = build_engine(
            ScriptEngine::builder()
                .workers(std::num::NonZeroUsize::MIN)
                .public_fields(fields),
        )?;
        let mut status = 0;
        for file in &self.files {
            let source = read(file)?;
            let began = Instant::now();
            let hook = register(&engine, &source, file, self.manifest.as_deref(), &keys)?;
            let register_us = began.elapsed().as_micros();
            let hook = match hook {
                Ok(hook) => hook,
                Err(error) => {
                    if status == 0 {
                        status = REJECTED;
                    }
                    if !print_registration_error(
                        &error,
                        (file, &source),
                        self.manifest.as_deref(),
                        self.json,
                    )? {
                        break;
                    }
                    continue;
                }
            };
            let run = |data: &ContextData| {
                let began = Instant::now();
                (block_on(hook.run(stage, &message, data)), began.elapsed())
            };
            let (first, _) = run(&data);
            if status == 0 {
                status = match first.result {
                    RunResult::Failed(_) => FAILED,
                    RunResult::Stop(_) if stage == Stage::Pre => STOPPED,
                    _ => 0,
                };
            }
            let (mut inside, mut whole) = (Vec::new(), Vec::new());
            for _ in 0..self.runs.get() {
                let (run, took) = run(&data);
                inside.push(run.duration);
                whole.push(took);
            }
            inside.sort();
            whole.sort();
            let times = show::BenchTimes {
                runs: self.runs.get(),
                outcome: super::outcome_name(&first.result, stage),
                register_us,
                first_us: first.duration.as_micros(),
                median_us: micros(inside[inside.len() / 2]),
                slowest_of_100_us: micros(inside[inside.len() * 99 / 100]),
                median_with_wait_us: micros(whole[whole.len() / 2]),
                fuel: first.fuel,
                fuel_limit: hook.limits().fuel,
                memory_bytes: first.memory_bytes,
                snapshot_bytes: hook.snapshot_bytes(),
            };
            if !is_written(show::times(&times, hook.limits(), file, self.json))? {
                break;
            }
        }
        Ok(status)
    }
}

fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}
