//! The dispatch table as a plain synchronous program.
//!
//! Written from the specification alone, to compare it with the framework. It contains no sets,
//! futures or traits: a slot is a [`Row`], a hook is a [`Script`], and a dispatch is a function
//! from those to a [`Run`].

/// When a slot's default runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Always,
    Fallback,
    Singleton,
}

/// Processing of the outputs at the end; aggregate and finalize exclude each other (T-31), and
/// `…Into` is the form with `output = Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Plain,
    Aggregate,
    AggregateInto,
    Finalize,
    FinalizeInto,
}

/// One row of the table: a legal combination of kind and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) chain: bool,
    pub(crate) end: End,
    pub(crate) unit: bool,
}

/// Behaviour of one hook, or of the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) id: usize,
    /// `true` if the chain companion breaks at this output.
    pub(crate) breaks: bool,
}

/// The default's id; hooks have others.
pub(crate) const DEFAULT: usize = 0;

/// Value of a hook's parameter `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// The slot has no such parameter.
    Absent,
    /// `None`.
    Nothing,
    /// `Some`, of this output.
    Output(String),
}

/// One call that a dispatch makes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Default,
    Hook { id: usize, last: Last },
    Chain { output: String },
    Aggregate { outputs: Vec<String> },
    Finalize { value: String },
}

/// Calls and result of a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) events: Vec<Event>,
    pub(crate) result: String,
}

impl Row {
    /// Slots that fold pass `last`; a unit return has no value to pass (T-24).
    pub(crate) fn passes_last(self) -> bool {
        let collects = matches!(self.end, End::Aggregate | End::AggregateInto);
        self.kind != Kind::Singleton && !self.chain && !collects && !self.unit
    }

    fn aggregates(self) -> bool {
        matches!(self.end, End::Aggregate | End::AggregateInto)
    }

    /// Returns the output of `id`.
    pub(crate) fn output(self, id: usize) -> String {
        if self.unit {
            "()".into()
        } else {
            format!("#{id}")
        }
    }

    /// Returns the aggregate of `outputs`.
    pub(crate) fn aggregated(self, outputs: &[String]) -> String {
        let joined = outputs.join(",");
        match self.end {
            End::AggregateInto => format!("gathered[{joined}]"),
            _ if self.unit => "()".into(),
            _ => format!("aggregate[{joined}]"),
        }
    }

    /// Returns the finalized `value`.
    pub(crate) fn finalized(self, value: &str) -> String {
        match self.end {
            End::FinalizeInto => format!("finished[{value}]"),
            _ if self.unit => "()".into(),
            _ => format!("finalize[{value}]"),
        }
    }
}

/// Dispatches `hooks`, already in execution order, by the rules of `row`.
pub(crate) fn dispatch(row: Row, default: Script, hooks: &[Script]) -> Run {
    let mut run = Run::default();
    let result = match row.kind {
        Kind::Always => always(row, default, hooks, &mut run),
        Kind::Fallback => fallback(row, default, hooks, &mut run),
        Kind::Singleton => match hooks.last() {
            Some(hook) => run.call_hook(row, *hook, Last::Absent),
            None => run.call_default(row, default),
        },
    };
    run.result = match row.end {
        End::Finalize | End::FinalizeInto => {
            run.events.push(Event::Finalize {
                value: result.clone(),
            });
            row.finalized(&result)
        }
        _ => result,
    };
    run
}

fn always(row: Row, default: Script, hooks: &[Script], run: &mut Run) -> String {
    let mut outputs = vec![run.call_default(row, default)];
    let mut stopped = row.chain && run.call_chain(&outputs[0], default);
    for hook in hooks {
        if stopped {
            break;
        }
        let previous = outputs.last().cloned();
        let output = run.call_hook(row, *hook, last(row, previous));
        stopped = row.chain && run.call_chain(&output, *hook);
        outputs.push(output);
    }
    if row.aggregates() {
        run.call_aggregate(row, outputs)
    } else {
        outputs.pop().unwrap()
    }
}

fn fallback(row: Row, default: Script, hooks: &[Script], run: &mut Run) -> String {
    if hooks.is_empty() {
        let output = run.call_default(row, default);
        return match row.end {
            End::AggregateInto => run.call_aggregate(row, vec![output]),
            _ => output,
        };
    }
    let mut outputs: Vec<String> = Vec::new();
    let mut stopped = false;
    for hook in hooks {
        let output = run.call_hook(row, *hook, last(row, outputs.last().cloned()));
        stopped = row.chain && run.call_chain(&output, *hook);
        outputs.push(output);
        if stopped {
            break;
        }
    }
    if row.aggregates() {
        run.call_aggregate(row, outputs)
    } else if row.chain && !stopped {
        run.call_default(row, default)
    } else {
        outputs.pop().unwrap()
    }
}

fn last(row: Row, previous: Option<String>) -> Last {
    match previous {
        _ if !row.passes_last() => Last::Absent,
        None => Last::Nothing,
        Some(output) => Last::Output(output),
    }
}

impl Run {
    fn call_default(&mut self, row: Row, default: Script) -> String {
        self.events.push(Event::Default);
        row.output(default.id)
    }

    fn call_hook(&mut self, row: Row, hook: Script, last: Last) -> String {
        self.events.push(Event::Hook { id: hook.id, last });
        row.output(hook.id)
    }

    fn call_chain(&mut self, output: &str, of: Script) -> bool {
        self.events.push(Event::Chain {
            output: output.into(),
        });
        of.breaks
    }

    fn call_aggregate(&mut self, row: Row, outputs: Vec<String>) -> String {
        let result = row.aggregated(&outputs);
        self.events.push(Event::Aggregate { outputs });
        result
    }

    /// Removes calls of the chain that the table leaves open, because they cannot change the
    /// result: on a default that nothing follows.
    pub(crate) fn without_idle_chain_calls(mut self, row: Row, hooks: usize) -> Self {
        if row.kind == Kind::Fallback || hooks == 0 {
            let mut after_default = false;
            self.events.retain(|event| {
                let idle = after_default && matches!(event, Event::Chain { .. });
                after_default = *event == Event::Default;
                !idle
            });
        }
        self
    }
}

/// One change of a set, before it is dispatched.
#[derive(Clone, Debug)]
pub(crate) enum Change<F> {
    Register(Registration<F>),
    Remove {
        key: &'static str,
    },
    /// Another set, made by these registrations, extends the first (T-40).
    Extend(Vec<Registration<F>>),
}

/// One registration; `form` is the way of writing the hook, which changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Registration<F> {
    pub(crate) form: F,
    pub(crate) script: Script,
    pub(crate) key: Option<&'static str>,
    pub(crate) priority: i32,
}

/// Returns the hooks of a slot of `kind` after `changes`, in execution order: lower priority first,
/// equal ones in registration order; an existing key is replaced in place; a singleton contains the
/// last one.
pub(crate) fn execution_order<F: Clone>(kind: Kind, changes: &[Change<F>]) -> Vec<Script> {
    let mut entries: Vec<Registration<F>> = Vec::new();
    for change in changes {
        match change {
            Change::Register(registration) => register(kind, &mut entries, registration.clone()),
            Change::Remove { key } => entries.retain(|entry| entry.key != Some(*key)),
            Change::Extend(registrations) => {
                let mut other = Vec::new();
                for registration in registrations {
                    register(kind, &mut other, registration.clone());
                }
                for entry in other {
                    register(kind, &mut entries, entry);
                }
            }
        }
    }
    entries.sort_by_key(|entry| entry.priority);
    entries.into_iter().map(|entry| entry.script).collect()
}

fn register<F>(kind: Kind, entries: &mut Vec<Registration<F>>, new: Registration<F>) {
    if kind == Kind::Singleton {
        entries.clear();
    }
    let same_key = entries
        .iter_mut()
        .find(|entry| entry.key.is_some() && entry.key == new.key);
    match same_key {
        Some(entry) => *entry = new,
        None => entries.push(new),
    }
}
