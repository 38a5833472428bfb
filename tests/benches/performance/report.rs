//! The page of figures: all of its figures are measured when it is written.

use std::fmt::Write as _;
use std::process::Command;

use crate::cases::{self, Case, EMPTY_TARGET, Subject};
use crate::compile::{self, Compiled};
use crate::counts::{self, Count};
use crate::page::judged;
use crate::processor;
use crate::threads::{self, Scaling};
use crate::time;
use crate::workload::PROMPT;

/// A case with its measurements.
struct Measured {
    case: Case,
    ours: f64,
    baseline: f64,
    allocations: u64,
    instructions: Option<Count>,
}

impl Measured {
    fn of(mut case: Case, count: bool) -> Result<Self, String> {
        let allocations = counts::allocations(&mut case);
        let instructions = if count {
            Some(counts::instructions(&case)?)
        } else {
            None
        };
        let [ours, baseline] = time::interleaved([&mut case.ours, &mut case.baseline]);
        Ok(Measured {
            case,
            ours,
            baseline,
            allocations,
            instructions,
        })
    }

    fn ratio(&self) -> f64 {
        self.ours / self.baseline
    }
}

/// A target that is not met.
struct Miss {
    what: String,
    measured: String,
    target: String,
    why: &'static str,
}

/// Prints the times of the cases of a slot, or of all.
pub(crate) fn times(slot: Option<&str>) {
    for mut case in cases::all(PROMPT) {
        if slot.is_none_or(|slot| slot == case.slot) {
            let [ours, baseline] = time::interleaved([&mut case.ours, &mut case.baseline]);
            let (label, ratio) = (case.label(), ours / baseline);
            println!("{label:26} {ours:7.1} ns {baseline:7.1} ns {ratio:5.2}");
        }
    }
}

/// Returns the page; whole if compile time is measured, too.
pub(crate) fn page(whole: bool) -> Result<String, String> {
    let missing = counts::missing();
    if let (Some(why), true) = (&missing, std::env::var_os("HOOKS_REQUIRE_ALL").is_some()) {
        return Err(format!("{why}; install valgrind"));
    }
    let cases = cases::all(PROMPT)
        .into_iter()
        .map(|case| {
            eprintln!("{}", case.label());
            Measured::of(case, missing.is_none())
        })
        .collect::<Result<Vec<_>, _>>()?;
    eprintln!("two threads");
    let scaling = threads::scaling();
    let mut misses = Vec::new();
    let mut page = introduction(missing.as_deref());
    page += &hooks(&cases, &mut misses);
    page += &empty(&cases, &mut misses);
    page += &allocations(&cases, &mut misses);
    page += &options(&cases);
    page += &events(&cases, &mut misses);
    page += &parallel(&scaling, &mut misses);
    if whole {
        eprintln!("compile time");
        page += &compile_time(&compile::measure()?, &mut misses);
    }
    page += &missed(&misses);
    Ok(page)
}

/// The section about compile time alone.
pub(crate) fn compile() -> Result<String, String> {
    Ok(compile_time(&compile::measure()?, &mut Vec::new()))
}

fn introduction(missing: Option<&str>) -> String {
    let counted = match missing {
        None => "callgrind counted the instructions.".to_owned(),
        Some(why) => format!("Instructions were not counted: {why}."),
    };
    format!(
        "# Performance\n\n\
         Written by `cargo bench -p hooks-tests --bench performance -- write`: no figure on \
         this page is typed by hand.\n\n\
         Measured on {}, {} cores, with {}, release profile of the workspace, no tracing \
         subscriber. All contenders of a row ran in turns in one process; a time is the \
         median of many rounds. Times depend on the machine and its other load: compare the \
         ratios. {counted}\n\n\
         Every slot takes a prompt of {} bytes; every hook looks for one word in it. The \
         *limit* is the same hooks as static calls, written by hand and inlined.\n",
        processor::name(),
        std::thread::available_parallelism().map_or(1, usize::from),
        compiler(),
        PROMPT.len(),
    )
}

fn compiler() -> String {
    Command::new("rustc")
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.split(" (").next().map(|text| text.trim().to_owned()))
        .unwrap_or_else(|| "rustc".to_owned())
}

/// Instructions, ours and the baseline's.
fn instructions(count: Option<Count>) -> String {
    count.map_or("not counted".to_owned(), |count| {
        format!("{} / {}", count.ours, count.baseline)
    })
}

fn hooks(cases: &[Measured], misses: &mut Vec<Miss>) -> String {
    let mut text = String::new();
    for (subject, heading, against) in [
        (Subject::Ready, "Hooks that do not await", "limit"),
        (
            Subject::Awaiting,
            "Hooks that await",
            "`async_trait` objects",
        ),
    ] {
        let _ = write!(
            text,
            "\n## {heading}\n\n\
             | Slot | Hooks | ns | {against}, ns | ratio | target | instructions | allocations |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n"
        );
        for measured in cases
            .iter()
            .filter(|measured| measured.case.subject == subject)
        {
            let case = &measured.case;
            let target = case.ratio_target().expect("both subjects have one");
            let reached = measured.ratio() <= target;
            let _ = writeln!(
                text,
                "| {} | {} | {:.1} | {:.1} | {} | ≤ {target:.2} | {} | {} |",
                case.name(),
                case.hooks,
                measured.ours,
                measured.baseline,
                judged(format!("{:.2}", measured.ratio()), reached),
                instructions(measured.instructions),
                measured.allocations,
            );
            if !reached {
                misses.push(Miss {
                    what: case.label(),
                    measured: format!("{:.2} × {against}", measured.ratio()),
                    target: format!("≤ {target:.2} ×"),
                    why: match (subject, case.slot) {
                        (Subject::Awaiting, _) => AWAITING,
                        (_, "own_chain") => OWN_CHAIN,
                        (_, "aggregate") => AGGREGATE,
                        _ => READY,
                    },
                });
            }
        }
        let _ = writeln!(
            text,
            "\nInstructions: of the framework / of the {against}. A ratio in bold misses its \
             target."
        );
        if subject == Subject::Ready {
            let floor: Vec<_> = cases
                .iter()
                .filter(|measured| measured.case.subject == Subject::Floor)
                .map(|measured| format!("{:.2} at {}", measured.ratio(), measured.case.hooks))
                .collect();
            let _ = writeln!(
                text,
                "For comparison, a loop over `Box<dyn Trait>` with methods that are not async, \
                 without any framework, takes this multiple of the limit, by number of hooks: {}.",
                floor.join(", ")
            );
        }
    }
    text
}

fn empty(cases: &[Measured], misses: &mut Vec<Miss>) -> String {
    let mut text = format!(
        "\n## No hooks\n\n\
         A dispatch without hooks, compared with a direct call of the default; the target is \
         {EMPTY_TARGET} additional instructions.\n\n\
         | Slot | ns | direct call, ns | additional instructions | allocations |\n|---|---:|---:|---:|---:|\n"
    );
    for measured in cases
        .iter()
        .filter(|measured| measured.case.subject == Subject::Empty)
    {
        let case = &measured.case;
        let beyond = measured.instructions.map(Count::beyond);
        let reached = beyond.is_none_or(|beyond| beyond <= EMPTY_TARGET);
        let shown = beyond.map_or("not counted".to_owned(), |beyond| beyond.to_string());
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.1} | {} | {} |",
            case.name(),
            measured.ours,
            measured.baseline,
            judged(shown.clone(), reached),
            measured.allocations,
        );
        if !reached {
            misses.push(Miss {
                what: case.label(),
                measured: format!("{shown} instructions"),
                target: format!("≤ {EMPTY_TARGET}"),
                why: if case.slot == "aggregate" {
                    AGGREGATE
                } else {
                    EMPTY
                },
            });
        }
    }
    text
}

fn allocations(cases: &[Measured], misses: &mut Vec<Miss>) -> String {
    let mut text = String::from(
        "\n## Allocations\n\n\
         `function` is a `#[impl_hook]` function that takes `&str`. The other hooks take a \
         `String`: the caller allocates one, and the dispatch clones it for every call except the \
         last, where the default is a call, too. A closure returns a future that may be pending. \
         This future is boxed, so closures have no target.\n\n\
         | Hooks | Number | allocations | target | ratio to the limit |\n|---|---:|---:|---:|---:|\n",
    );
    let by_hand = [Subject::Function, Subject::Owned];
    for measured in cases {
        let case = &measured.case;
        let target = case.allocation_target();
        let reached = measured.allocations <= target;
        if by_hand.contains(&case.subject) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {:.2} |",
                case.name(),
                case.hooks,
                judged(measured.allocations.to_string(), reached),
                match target {
                    u64::MAX => "–".to_owned(),
                    target => format!("≤ {target}"),
                },
                measured.ratio(),
            );
        }
        if !reached {
            misses.push(Miss {
                what: case.label(),
                measured: format!("{} allocations", measured.allocations),
                target: format!("≤ {target}"),
                why: ALLOCATED,
            });
        }
    }
    let growing = counts::growing();
    if growing.is_empty() {
        text += "\nNo number of allocations on this page grows with the length of the prompt: all \
                 were also measured with a prompt of a hundred times the length.\n";
    }
    for what in growing {
        misses.push(Miss {
            what,
            measured: "grows".to_owned(),
            target: "the same for every length".to_owned(),
            why: "",
        });
    }
    text
}

fn options(cases: &[Measured]) -> String {
    let mut text = String::from(
        "\n## Options of slots and entries\n\n\
         The costs of around hooks, concurrent slots and the options of entries, compared with \
         hand-written static calls; they have no targets. `around` has as many around hooks, each \
         with a check and one call of `next`; `around unused` has ordinary hooks in a slot that \
         takes around hooks. In `relative order`, hooks are registered with `before`; in \
         `disabled`, as many disabled hooks are registered beside the hooks that run; in \
         `conditional`, each hook has a condition that holds; in `for call`, each dispatch copies \
         the set and registers the last of the hooks in the copy. The rows of events have the hooks of \
         [Events](#events): in `event filter` with a matcher of the tool, in `event decide` in the \
         phase `Decide`, in `event observer` with an observer beside them, in `event around` with \
         one around hook, in `event schema` with a declared schema of the five fields. In `tool \
         result`, hooks look for a folder in the result of a tool, and leave it unchanged.\n\n\
         | Case | Hooks | ns | limit, ns | ratio | instructions | allocations |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for measured in cases
        .iter()
        .filter(|measured| measured.case.subject == Subject::Options)
    {
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} | {:.1} | {:.2} | {} | {} |",
            measured.case.name(),
            measured.case.hooks,
            measured.ours,
            measured.baseline,
            measured.ratio(),
            instructions(measured.instructions),
            measured.allocations,
        );
    }
    text
}

/// Nanoseconds beyond an indexed look-up that an emission without hooks may take.
const NO_HOOKS_TARGET: f64 = 20.0;

fn events(cases: &[Measured], misses: &mut Vec<Miss>) -> String {
    let mut text = String::from(
        "\n## Events\n\n\
         Every hook compares the tool's name and looks for a folder in a path, like a simple check \
         of files. In the rows *hooks modify*, each hook also sets a field. The limit does the \
         same work on a map with one owner. The data have five fields; in the rows with 8 KiB, one \
         of the fields has this size. A map finds a field by the hash of its name. An event \
         compares the name with the names of its few fields instead, so it can take less time than \
         the limit. With twelve fields, and if a hook receives an `Arc` of the map, both use the \
         hash: in these rows, the ratio is that of the dispatch alone.\n\n\
         | What | Hooks | ns | limit, ns | ratio | target | instructions | allocations |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let subjects = [
        (Subject::Event, "hooks continue"),
        (Subject::EventMany, "hooks continue, 12 fields"),
        (Subject::EventModify, "hooks modify"),
        (Subject::EventShared, "hooks continue, receive `Arc`s"),
        (Subject::EventCommon, "hooks continue, common registry"),
    ];
    for (subject, what) in subjects {
        let alike = |measured: &&Measured| measured.case.subject == subject;
        for measured in cases.iter().filter(alike) {
            let case = &measured.case;
            let size = if case.slot.ends_with("KiB") {
                ", 8 KiB"
            } else {
                ""
            };
            let target = case.ratio_target();
            let reached = target.is_none_or(|target| measured.ratio() <= target);
            let shown = target.map_or("–".to_owned(), |target| format!("≤ {target:.2}"));
            let _ = writeln!(
                text,
                "| {what}{size} | {} | {:.1} | {:.1} | {} | {shown} | {} | {} |",
                case.hooks,
                measured.ours,
                measured.baseline,
                judged(format!("{:.2}", measured.ratio()), reached),
                instructions(measured.instructions),
                measured.allocations,
            );
            if !reached {
                misses.push(Miss {
                    what: case.label(),
                    measured: format!("{:.2} × limit", measured.ratio()),
                    target: shown,
                    why: EVENT,
                });
            }
        }
    }
    text += "\nThe *common registry* is a list of `async_trait` objects behind a lock. It clones \
             the data for every hook, as the Rust core of `amplifier-core` does (source of version \
             1.6.0). PyPI has `amplifier-core` as a package for Python, which is measured in its \
             [own section](#amplifier-core).\n";
    for measured in cases
        .iter()
        .filter(|measured| measured.case.subject == Subject::EventEmpty)
    {
        let beyond = measured.ours - measured.baseline;
        let reached = beyond <= NO_HOOKS_TARGET;
        let _ = writeln!(
            text,
            "\nAn emission without hooks takes {} ns more than an indexed look-up (target \
             ≤ {NO_HOOKS_TARGET:.0}), and {} allocations.",
            judged(format!("{beyond:.1}"), reached),
            measured.allocations,
        );
        if !reached {
            misses.push(Miss {
                what: "an emission without hooks".to_owned(),
                measured: format!("{beyond:.1} ns"),
                target: format!("≤ {NO_HOOKS_TARGET:.0} ns"),
                why: NO_HOOKS,
            });
        }
    }
    text
}

fn parallel(scaling: &Scaling, misses: &mut Vec<Miss>) -> String {
    let target = threads::TARGET;
    let mut text = format!(
        "\n## Two threads\n\n\
         Throughput of two threads that dispatch on a shared value, as a multiple of one thread \
         (target ≥ {target:.2}):\n\n| Shared value | × one thread |\n|---|---:|\n"
    );
    for (what, scaling) in &scaling.shared {
        let reached = *scaling >= target;
        let _ = writeln!(
            text,
            "| {what} | {} |",
            judged(format!("{scaling:.2}"), reached)
        );
        if !reached {
            misses.push(Miss {
                what: format!("two threads, {what}"),
                measured: format!("{scaling:.2} × one thread"),
                target: format!("≥ {target:.2} ×"),
                why: THREADS,
            });
        }
    }
    let _ = writeln!(
        text,
        "\nStatic calls without a shared value, measured at the same time, reached {:.2}: the \
         maximum of this machine for a second thread.",
        scaling.limit
    );
    text
}

fn compile_time(compiled: &Compiled, misses: &mut Vec<Miss>) -> String {
    let mut text = String::from(
        "\n## Compile time\n\n\
         50 traits with 6 slots each, compared with `async_trait` traits of the same shape, whose \
         loops over the hooks are written by hand. *Declared* crates contain the traits only; \
         crates *with hooks* also implement them. The dependencies are already built. *Again* is \
         an incremental build, after the crate's file was saved unchanged. The *names alone* are \
         the public items of a declared slot (its two traits and its methods of the set), written \
         by hand without an implementation: the lower bound of an expansion.\n\n\
         | Crate | Command | s | `async_trait`, s | ratio | before | target |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for timed in &compiled.times {
        let ratio = timed.ours / timed.async_trait;
        let reached = timed.target.is_none_or(|target| ratio <= target);
        let target = timed
            .target
            .map_or("–".to_owned(), |target| format!("≤ {target:.1}"));
        let _ = writeln!(
            text,
            "| {} | `{}` | {:.2} | {:.2} | {} | {} | {target} |",
            timed.what,
            timed.command,
            timed.ours,
            timed.async_trait,
            judged(format!("{ratio:.2}"), reached),
            timed
                .before
                .map_or("–".to_owned(), |before| format!("{before:.1}")),
        );
        if !reached {
            misses.push(Miss {
                what: format!("`{}`, {}", timed.command, timed.what),
                measured: format!("{ratio:.2} × `async_trait`"),
                target,
                why: match timed.command.starts_with("cargo build") {
                    true => BUILD,
                    false => CHECK,
                },
            });
        }
    }
    let reached = compiled.lines <= compile::LINES_TARGET;
    let _ = write!(
        text,
        "\nA declared slot expands to {} formatted lines beyond its definition (target ≤ {:.0}); \
         a method of `async_trait` to {:.1}; the names alone of a slot to {:.1}.\n",
        judged(format!("{:.1}", compiled.lines), reached),
        compile::LINES_TARGET,
        compiled.async_trait_lines,
        compiled.names_lines,
    );
    if !reached {
        misses.push(Miss {
            what: "expansion of a declared slot".to_owned(),
            measured: format!("{:.1} lines", compiled.lines),
            target: format!("≤ {:.0}", compile::LINES_TARGET),
            why: LINES,
        });
    }
    text
}

fn missed(misses: &[Miss]) -> String {
    let mut text = String::from("\n## Targets missed\n\n");
    if misses.is_empty() {
        return text + "None.\n";
    }
    text += "| What | measured | target |\n|---|---:|---:|\n";
    for miss in misses {
        let Miss {
            what,
            measured,
            target,
            ..
        } = miss;
        let _ = writeln!(text, "| {what} | {measured} | {target} |");
    }
    text += "\nWhy:\n\n";
    let mut told: Vec<&str> = Vec::new();
    for Miss { what, why, .. } in misses {
        if !told.contains(why) {
            told.push(why);
            let alike = misses.iter().filter(|miss| miss.why == *why).count() - 1;
            let others = match alike {
                0 => String::new(),
                alike => format!(" and {alike} more"),
            };
            let _ = writeln!(text, "- {what}{others}: {why}.");
        }
    }
    text
}

const READY: &str = "each hook costs a virtual call, and its output passes through memory, as in a \
    list without any framework; in addition, the dispatch loads the list, the entry and the hook, \
    which are local variables in the limit, and stores the state of its future";
const OWN_CHAIN: &str = "a chain is an `async fn` that may be pending after every output, and a \
    future that may be pending is stored where it does not move before it is polled";
const AGGREGATE: &str = "the outputs are stored in a `Vec`, whose length is unknown at compile \
    time, and the aggregate is a separate future, which must not move after its first poll";
const AWAITING: &str = "each hook costs one box, as with `async_trait`; in addition, the dispatch \
    tests for each hook whether it returned its output or a boxed future";
const EMPTY: &str = "the complete future is built before its first poll, because it may be \
    suspended";
const THREADS: &str = "compare the static calls in the same section; only a difference to them \
    is a cost of the dispatch";
const EVENT: &str = "taking and releasing the snapshot of the table costs an atomic operation \
    each, the state of the emission must not move while hooks may be pending, and its result is \
    moved; in addition, each hook costs a virtual call";
const NO_HOOKS: &str = "the complete future is built before its first poll, because it may be \
    suspended, and its result passes through memory";
const ALLOCATED: &str = "an allocation beyond those of the hooks themselves";
const CHECK: &str = "a slot has public methods, a trait for hooks, a trait for hooks with state, \
    and an impl for each form of hook; the compiler checks all of them in the crate that declares \
    the slot";
const BUILD: &str = "each slot has a type of hooks of its own, for which the compiler builds the lists of hooks, \
    the reference counts and the destructors anew; without unsafe code, a hook with borrowed arguments \
    cannot be stored as a type that slots share";
const LINES: &str = "the expansion names each type by its absolute path; synchronous slots, `&mut` \
    arguments and entries with keys and owners in all slots of a set came after the target was set";
