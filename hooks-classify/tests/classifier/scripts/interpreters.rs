//! Random scripts in the real interpreters: an allowed script never makes a call that the
//! classifier does not know.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hooks_classify::{Classifier, Decision};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::support::{parallel, required};

/// The call. Each interpreter prints the texts that made it.
const CALL: &str = "canary()";

/// Returns allowed texts with the call, out of `tried` random combinations of these parts.
fn allowed(program: &str, parts: &'static [&'static str], tried: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let texts = (
        prop::collection::vec(prop::sample::select(parts), 0..12),
        any::<prop::sample::Index>(),
    );
    let mut text = || {
        let (mut parts, at) = texts.new_tree(&mut runner).expect("texts").current();
        parts.insert(at.index(parts.len() + 1), CALL);
        parts.concat()
    };
    let texts: Vec<String> = (0..tried).map(|_| text()).collect();
    let classifier = Classifier::new();
    let are_allowed = parallel::map(&texts, |text| {
        let quoted = text.replace('\'', r"'\''");
        let classification = classifier.classify(&format!("{program} '{quoted}'"));
        classification.is_ok_and(|of| of.decision == Decision::AutoAllowed)
    });
    let all = texts.into_iter().zip(are_allowed);
    let found: Vec<_> = all
        .filter_map(|(text, is_allowed)| is_allowed.then_some(text))
        .collect();
    assert!(found.len() > tried / 1000, "too few texts are allowed");
    found
}

/// Runs the texts, and the call alone, in a harness for the interpreter, which prints the texts
/// that made the call.
fn run(interpreter: &str, options: &[&str], mut texts: Vec<String>) -> String {
    texts.insert(0, CALL.to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(interpreter)
        .args(options)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the interpreter starts");
    let input = serde_json::to_string(&texts).expect("texts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(input.as_bytes())
        .expect("the interpreter reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the interpreter ends");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(
        printed.ends_with("done\n"),
        "the harness did not finish: {printed}"
    );
    printed
}

#[cfg(feature = "javascript")]
#[test]
fn allowed_javascript_makes_no_unknown_call() {
    if !required::has("node") {
        return;
    }
    let parts = &[
        "'",
        "\"",
        "`",
        "/",
        "//",
        "/*",
        "*/",
        "\n",
        ";",
        " ",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "1",
        "a",
        "=",
        "let a=1",
        "console.log(1)",
        "canary",
        "${",
        "<!--",
        "-->",
        "+",
        "++",
        ".",
        "?",
        "??",
        "?.",
        ":",
        "=>",
        "if(1)",
        "!",
        "*",
        "&&",
        "<",
        ">",
        ",",
        "let ",
        "const ",
        "[1].map(",
        "x=>",
        "\u{2028}",
        "\"a\"",
        "'b'",
        "/a/",
        "/'/",
        "0.",
        "\t",
        "é",
    ];
    let run_all = "const vm = require('vm'), fs = require('fs');
for (const text of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  let called = false;
  const canary = () => { called = true };
  try { vm.runInNewContext(text, { canary, console: { log() {} } }, { timeout: 500 }) } catch {}
  if (called) console.log(JSON.stringify(text));
}
console.log('done');";
    let printed = run("node", &["-e", run_all], allowed("node -e", parts, 20_000));
    assert_eq!(printed, "\"canary()\"\ndone\n");
}

#[cfg(feature = "python")]
#[test]
fn allowed_python_makes_no_unknown_call() {
    if !required::has("python3") {
        return;
    }
    let parts = &[
        "'",
        "\"",
        "'''",
        "\"\"\"",
        "#",
        "\n",
        ";",
        " ",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "1",
        "a",
        "=",
        "a=1",
        "print(1)",
        "canary",
        "f\"",
        "f'",
        "r\"",
        "b\"",
        "!r",
        ":",
        "+",
        ".",
        "lambda a:",
        "for a in ",
        "if 1",
        "else",
        "in",
        "not",
        "or",
        ",",
        "*",
        "==",
        "print",
        "len",
        "\t",
        "é",
        "import json",
        "as x",
        "\\N{",
        "%",
        "\n  ",
        "0x",
        "\"a\"",
        "[eval for eval in []]",
    ];
    let run_all = "import json, sys, io, contextlib, warnings
warnings.simplefilter('ignore')
for text in json.load(sys.stdin):
    called = []
    def canary(*_): called.append(1)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, 'text', 'exec'), {'canary': canary})
    except BaseException:
        pass
    if called: print(repr(text))
print('done')";
    let printed = run(
        "python3",
        &["-c", run_all],
        allowed("python3 -c", parts, 20_000),
    );
    assert_eq!(printed, "'canary()'\ndone\n");
}

#[test]
fn allowed_perl_makes_no_unknown_call() {
    if !required::has("perl") {
        return;
    }
    let parts = &[
        "'", "\"", "`", "/", "#", "\n", ";", " ", "\\", "(", ")", "{", "}", "[", "]", "1", "$a",
        "@a", "%h", "=", "print", "print ", "canary;", " canary ", "&canary", "$", "@", "%", "x",
        "s/", "y/", "tr/", "m/", "q", "/e", "/g", ".", ",", "?", ":", "=~", "if ", "split ",
        "length ", "time ", "keys ", "BEGIN", "END", "=cut", "=for x", "<", ">", "<<", "->", "=>",
        "&&", "||", "!", "~", "-", "**", "$h{a}", "$a[0]", "\"a\"", "'b'", "$#", "$.", "$,", "1.",
        "..", "*",
    ];
    // A text that ends or blocks the program has run: the harness prints it before.
    let run_all = "use JSON::PP; local $/; my $texts = decode_json(<STDIN>);
my $called; sub canary { $called = 1 }
open my $out, '>&', STDOUT; open STDOUT, '>', '/dev/null'; close STDIN;
for my $text (@$texts) {
  $called = 0; { package main; no strict; local $SIG{ALRM} = sub { die }; alarm 2; eval $text; alarm 0; }
  print $out encode_json([$text]), qq(\\n) if $called;
}
print $out qq(done\\n);";
    let printed = run("perl", &["-e", run_all], allowed("perl -e", parts, 20_000));
    assert_eq!(printed, "[\"canary()\"]\ndone\n");
}
