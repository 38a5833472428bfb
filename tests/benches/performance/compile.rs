//! Compile time and size of the expansion, compared with `async_trait` of equal shape.
//!
//! Crates of 50 traits with 6 slots each are generated below the target folder and
//! built without network, with the versions of this workspace. Only the generated crate
//! is built anew: its dependencies are built before the clock starts.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const TRAITS: usize = 50;
const ROUNDS: usize = 3;

/// The greatest time of `cargo check` of declared slots, as a multiple of `async_trait`'s.
pub(crate) const CHECK_TARGET: f64 = 4.7;
/// Maximum for slots with hooks.
pub(crate) const HOOKS_CHECK_TARGET: f64 = 2.2;
/// The greatest time of `cargo build`, with optimization and without, of declared slots, as a multiple of
/// `async_trait`'s.
const BUILD_TARGET: f64 = 7.0;
/// Maximum for slots with hooks.
const HOOKS_BUILD_TARGET: f64 = 4.0;
/// The greatest number of formatted lines that a declared slot adds.
pub(crate) const LINES_TARGET: f64 = 140.0;

/// Ratios measured before the lists of all slots shared the code that changes them.
const BEFORE: [(&str, &str, f64); 4] = [
    ("declared", "cargo build", 12.6),
    ("with hooks", "cargo build", 6.8),
    ("declared", "cargo build --release", 18.7),
    ("with hooks", "cargo build --release", 10.1),
];

/// The measurements.
pub(crate) struct Compiled {
    /// Seconds, ours and `async_trait`'s, by crate and command.
    pub(crate) times: Vec<Timed>,
    /// Lines of the expansion of a declared slot beyond the trait as it was written.
    pub(crate) lines: f64,
    /// Lines for a method of `async_trait`.
    pub(crate) async_trait_lines: f64,
    /// Lines for a slot's public items alone.
    pub(crate) names_lines: f64,
}

pub(crate) struct Timed {
    pub(crate) what: &'static str,
    pub(crate) command: &'static str,
    pub(crate) ours: f64,
    pub(crate) async_trait: f64,
    /// The ratio before the code of lists was shared between slots.
    pub(crate) before: Option<f64>,
    pub(crate) target: Option<f64>,
}

/// A generated crate.
struct Package {
    name: &'static str,
    source: String,
}

/// Measures everything.
pub(crate) fn measure() -> Result<Compiled, String> {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compile-time");
    let [declared, plain, implemented, plainly_implemented, names] = [
        Package::new("hooks_declared", hooks_declared),
        Package::new("async_trait_declared", async_trait_declared),
        Package::new("hooks_implemented", hooks_implemented),
        Package::new("async_trait_implemented", async_trait_implemented),
        Package::new("names_declared", names_declared),
    ];
    let all = [
        &declared,
        &plain,
        &implemented,
        &plainly_implemented,
        &names,
    ];
    set_up(&home, &all)?;

    let mut times = Vec::new();
    let pairs = [
        ("declared", [&declared, &plain], Some(CHECK_TARGET)),
        (
            "with hooks",
            [&implemented, &plainly_implemented],
            Some(HOOKS_CHECK_TARGET),
        ),
        // Not usable code: it is only checked, and has no target.
        ("names alone", [&names, &plain], None),
    ];
    let built = [
        ("declared", [&declared, &plain], Some(BUILD_TARGET)),
        (
            "with hooks",
            [&implemented, &plainly_implemented],
            Some(HOOKS_BUILD_TARGET),
        ),
    ];
    for (command, arguments, kept, pairs) in [
        ("cargo check", &["check"][..], "0", &pairs[..]),
        ("cargo check, again", &["check"], "1", &pairs),
        ("cargo build", &["build"], "0", &built),
        (
            "cargo build --release",
            &["build", "--release"],
            "0",
            &built,
        ),
    ] {
        for (what, pair, target) in pairs {
            let [ours, async_trait] = time(&home, arguments, kept, pair)?;
            let before = BEFORE.iter().find(|row| (row.0, row.1) == (*what, command));
            times.push(Timed {
                what,
                command,
                ours,
                async_trait,
                before: before.map(|row| row.2),
                target: *target,
            });
        }
    }
    // These items are already expanded: count their lines beyond the definition of the slots.
    let names_lines = lines_of(&names.source)? - lines_of(&declared.source)?;
    Ok(Compiled {
        times,
        lines: declared.lines(&home)?,
        async_trait_lines: plain.lines(&home)?,
        names_lines: names_lines / SLOTS_IN_ALL,
    })
}

impl Package {
    fn new(name: &'static str, one: fn(usize) -> String) -> Self {
        Package {
            name,
            source: (0..TRAITS).map(one).collect(),
        }
    }

    /// Lines that a slot's expansion has beyond its definition, both formatted.
    fn lines(&self, home: &Path) -> Result<f64, String> {
        let expanded = output(
            cargo(home)
                .args(["rustc", "--quiet", "--package", self.name, "--"])
                .arg("-Zunpretty=expanded")
                .env("RUSTC_BOOTSTRAP", "1"),
        )?;
        Ok((lines_of(&expanded)? - lines_of(&self.source)?) / SLOTS_IN_ALL)
    }
}

/// Writes the crates into a workspace of their own.
fn set_up(home: &Path, packages: &[&Package]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().map_err(|why| why.to_string())?;
    let mut members = Vec::new();
    for package in packages {
        let manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nhooks-core = {{ path = {:?} }}\nasync-trait = \"0.1\"\n",
            package.name,
            root.join("hooks-core"),
        );
        write(&home.join(package.name).join("Cargo.toml"), &manifest)?;
        write(&home.join(package.name).join("src/lib.rs"), &package.source)?;
        members.push(package.name);
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
    write(&home.join("Cargo.toml"), &workspace)?;
    fs::copy(root.join("Cargo.lock"), home.join("Cargo.lock"))
        .map(drop)
        .map_err(|why| format!("cannot copy Cargo.lock: {why}"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().expect("every file is in a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|why| format!("cannot write {}: {why}", path.display()))
}

/// Returns the median times of both crates, in seconds, built in turns; `kept` is `true` if the
/// compiler uses its incremental cache.
fn time(
    home: &Path,
    command: &[&str],
    kept: &str,
    pair: &[&Package; 2],
) -> Result<[f64; 2], String> {
    let build = |package: &Package| {
        output(
            cargo(home)
                .env("CARGO_INCREMENTAL", kept)
                .args(command)
                .args(["--quiet", "--package", package.name]),
        )
    };
    // Build the dependencies and the cache before the clock starts.
    for package in pair {
        build(package)?;
    }
    let mut samples = [vec![], vec![]];
    for _ in 0..ROUNDS {
        for (package, samples) in pair.iter().zip(&mut samples) {
            write(&home.join(package.name).join("src/lib.rs"), &package.source)?;
            let start = Instant::now();
            build(package)?;
            samples.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    }))
}

fn cargo(home: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(home)
        .env("CARGO_TARGET_DIR", home.join("target"))
        .env("CARGO_NET_OFFLINE", "true");
    cargo
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|why| format!("cannot run {command:?}: {why}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed:\n{why}"));
    }
    String::from_utf8(output.stdout).map_err(|why| why.to_string())
}

/// Returns the number of lines, once formatted.
fn lines_of(source: &str) -> Result<f64, String> {
    Ok(formatted(source)?.lines().count() as f64)
}

fn formatted(source: &str) -> Result<String, String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cannot run `rustfmt`: {why}; `rustup component add rustfmt`"))?;
    let mut stdin = rustfmt.stdin.take().expect("it is piped");
    let source = source.to_owned();
    let feeder = std::thread::spawn(move || stdin.write_all(source.as_bytes()));
    let output = rustfmt.wait_with_output().map_err(|why| why.to_string())?;
    let fed = feeder.join().expect("writing does not panic");
    fed.map_err(|why| format!("cannot write to `rustfmt`: {why}"))?;
    if !output.status.success() {
        return Err("`rustfmt` could not format an expansion".to_owned());
    }
    String::from_utf8(output.stdout).map_err(|why| why.to_string())
}

/// A slot of every generated trait: name, options, and whether its hooks are given `last`.
const SLOTS: [(&str, &str, bool); 6] = [
    ("validate", "always", true),
    ("observe", "always", true),
    ("label", "fallback", true),
    ("route", "singleton", false),
    (
        "check",
        "always, chain = hooks_core::ShortCircuit<(), String>",
        false,
    ),
    (
        "find",
        "fallback, chain = hooks_core::ShortCircuit<(), String>",
        false,
    ),
];

const SLOTS_IN_ALL: f64 = (TRAITS * SLOTS.len()) as f64;

const VERDICT: &str = "Result<(), String>";

/// Result of every slot without hooks.
const DEFAULT: &str = "if prompt.is_empty() { Err(\"empty\".to_owned()) } else { Ok(()) }";

/// Returns the parameter, or the item for it in a list of types, if hooks get it.
fn given_last(last: bool, name: &str) -> String {
    match last {
        true => format!(", {name}Option<{VERDICT}>"),
        false => String::new(),
    }
}

fn hooks_declared(at: usize) -> String {
    let mut slots = String::new();
    for (name, options, _) in SLOTS {
        let _ = writeln!(
            slots,
            "#[hook({options})] async fn {name}_{at}(prompt: &str) -> {VERDICT} {{ \
             {DEFAULT} }}"
        );
    }
    format!("#[hooks_core::hooks]\npub trait Hooks{at} {{ {slots} }}\n")
}

/// Returns the public items that the slots of a trait need, with empty bodies and without
/// documentation: the minimum of every expansion.
fn names_declared(at: usize) -> String {
    let (mut methods, mut fields, mut of_set, mut items) =
        (String::new(), String::new(), String::new(), String::new());
    for (name, _, last) in SLOTS {
        let (slot, field) = (format!("{}{at}", upper(name)), format!("{name}_{at}"));
        let last = given_last(last, "last: ");
        let future = format!("impl Future<Output = {VERDICT}> + Send");
        let pending = "{ std::future::pending() }";
        let _ = writeln!(
            methods,
            "fn {field}(&self, prompt: &str{last}) -> {future} {{ async move {{ \
            {DEFAULT} }} }}"
        );
        let _ = writeln!(fields, "{field}: std::marker::PhantomData<&'h dyn {slot}>,");
        let _ = writeln!(
            of_set,
            "\
            pub fn {field}<'a>(&'a self, prompt: &'a str) -> {future} {pending}
            pub fn with_{field}<M>(self, hook: impl Fn(&dyn {slot}, M) + 'h) -> Self {{ loop {{}} }}
            pub fn register_{field}<M>(&mut self, hook: impl Fn(&dyn {slot}, M) + 'h) -> &mut Self {{ loop {{}} }}
            pub fn {field}_mut(&mut self) -> &mut dyn {slot} {{ loop {{}} }}"
        );
        let _ = writeln!(items, "\
            pub trait {slot}: hooks_core::HookObject {{ \
                fn call(&self, prompt: String{last}) -> {future} where Self: Sized; }}
            pub trait Stateful{slot}: Send {{ \
                fn call_mut(&mut self, prompt: String{last}) -> {future}; \
                fn on_reentrancy(err: hooks_core::HookReentrancyError) -> {VERDICT} {{ loop {{}} }} }}");
    }
    format!(
        "pub trait Hooks{at} {{ {methods} }}\npub struct Hooks{at}Set<'h> {{ {fields} }}\n\
         impl<'h> Hooks{at}Set<'h> {{ {of_set} }}\n{items}"
    )
}

fn upper(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

fn hooks_implemented(at: usize) -> String {
    let mut hooks = String::new();
    for (name, _, last) in SLOTS {
        let (body, last) = (body(last), given_last(last, "last: "));
        let _ = writeln!(
            hooks,
            "async fn {name}_{at}(&self, prompt: &str{last}) -> {VERDICT} {{ {body} }}"
        );
    }
    let declared = hooks_declared(at);
    format!(
        "{declared}\npub struct Policy{at};\n\
         #[hooks_core::impl_hooks(Hooks{at}Set)]\nimpl Hooks{at} for Policy{at} {{ {hooks} }}\n\
         pub fn set_{at}() -> Hooks{at}Set<'static> {{ Hooks{at}Set::new().with_hooks(Policy{at}) }}\n"
    )
}

fn body(last: bool) -> String {
    let handed_over = if last { "last.unwrap_or(Ok(()))?;" } else { "" };
    format!(
        "{handed_over} if prompt.contains(\"sk-\") {{ Err(\"a key\".to_owned()) }} else {{ Ok(()) }}"
    )
}

fn async_trait_declared(at: usize) -> String {
    let mut methods = String::new();
    for (name, _, last) in SLOTS {
        let last = given_last(last, "_last: ");
        let _ = writeln!(
            methods,
            "async fn {name}_{at}(&self, prompt: &str{last}) -> {VERDICT} {{ \
             {DEFAULT} }}"
        );
    }
    format!("#[async_trait::async_trait]\npub trait Hooks{at}: Send + Sync {{ {methods} }}\n")
}

/// Returns traits of `async_trait` with hand-written loops over the hooks.
fn async_trait_implemented(at: usize) -> String {
    let (mut methods, mut loops) = (String::new(), String::new());
    for (name, _, last) in SLOTS {
        let (body, parameter) = (body(last), given_last(last, "last: "));
        let _ = writeln!(
            methods,
            "async fn {name}_{at}(&self, prompt: &str{parameter}) -> {VERDICT} {{ {body} }}"
        );
        let step = if last {
            format!("answer = hook.{name}_{at}(prompt, Some(answer)).await;")
        } else {
            format!("answer = hook.{name}_{at}(prompt).await; if answer.is_err() {{ break; }}")
        };
        let _ = writeln!(
            loops,
            "pub async fn run_{name}_{at}(hooks: &[Box<dyn Hooks{at}>], prompt: &str) -> {VERDICT} {{ \
             let mut answer = Ok(()); for hook in hooks {{ {step} }} answer }}"
        );
    }
    let declared = async_trait_declared(at);
    format!(
        "{declared}\npub struct Policy{at};\n\
         #[async_trait::async_trait]\nimpl Hooks{at} for Policy{at} {{ {methods} }}\n{loops}\n\
         pub fn set_{at}() -> Vec<Box<dyn Hooks{at}>> {{ vec![Box::new(Policy{at})] }}\n"
    )
}
