//! Scripts in other languages: only those that compute and print are allowed (P-06). A test that
//! needs the parser of a language is compiled with its feature.

mod interpreters;

use hooks_classify::{Classifier, Decision};

/// Returns `true` if a script for a program may run without confirmation.
fn is_allowed(program: &str, script: &str) -> bool {
    let quoted = script.replace('\'', r"'\''");
    let command = format!("{program} '{quoted}'");
    let classification = Classifier::new().classify(&command).expect("a command");
    classification.decision == Decision::AutoAllowed
}

#[track_caller]
fn assert_decisions(program: &str, scripts: &[&str], allowed: bool) {
    for script in scripts {
        assert_eq!(is_allowed(program, script), allowed, "{program} {script}");
    }
}

#[cfg(feature = "python")]
#[test]
fn python_that_only_prints_is_allowed() {
    let scripts = [
        "import sys; print(sys.version, sys.path)",
        "import json,sys; d=json.load(sys.stdin); print(d['name'], len(d['items']))",
        "import json\nwith open('a.json') as f:\n    data = json.load(f)\nfor k, v in data.items():\n    print(f'{k:20} {v!r}')\n",
        "from datetime import datetime; print(datetime.now().isoformat())",
        "import datetime as dt; print(dt.datetime.fromtimestamp(0))",
        "print(sorted({'a': 1}.items(), key=lambda kv: -kv[1]))",
        "import hashlib; print(hashlib.sha256(open('a', 'rb').read()).hexdigest())",
        "import os; print([f for f in os.listdir('.') if f.endswith('.py')])",
        "import importlib.util; print(importlib.util.find_spec('numpy') is not None)",
        "print(type(1).__name__, type('x'))",
        "from pathlib import Path; print(Path('a.txt').read_text(), *Path('.').glob('*.py'))",
        "'''about'''\nprint(\"it's\") # isn't it",
    ];
    assert_decisions("python3 -c", &scripts, true);
}

#[test]
fn python_that_may_reach_other_functions_needs_confirmation() {
    let scripts = [
        // Functions that another function calls.
        "import os; list(map(os.remove, ['a']))",
        "import os; print(sorted(['a'], key=os.remove))",
        "import json, os; json.loads('{}', object_hook=os.rmdir)",
        "from os import remove as r; list(map(r, ['a']))",
        "import os; x = os; list(map(x.rmdir, ['d']))",
        "list(map(open, ['a'], ['w']))",
        // An undefined name, or one defined elsewhere, is Python's built-in.
        "[eval for eval in []]; list(map(eval, ['1']))",
        "if 0: exec = 1\nlist(map(exec, ['1']))",
        "from json import loads as eval; eval('1')",
        "(lambda open: 0)(0); open('a', 'w')",
        // Attributes from a value to the code that created it.
        "import os; list(map(os.walk('.').gi_frame.f_globals['remove'], ['a']))",
        "print(().__class__.__base__.__subclasses__())",
        "import sys; t = type(sys.stdout.buffer.raw); list(map(t, ['a'], ['w']))",
        "import sys; list(map(sys.modules['os'].remove, ['a']))",
        "print(f'{__import__(chr(111) + chr(115)).system(chr(108))}')",
        // Imports.
        "import sys; sys.path.insert(0, '/tmp'); import json",
        "from sys import path; path[0] = 'x'; import json",
        "import importlib.util; importlib.util.find_spec('a.b')",
        "from os import *; print(getcwd())",
        "import numpy",
        // Python 2 evaluates this input.
        "print(input())",
        // Encodings and line breaks.
        "# coding: utf-7\nprint(1)",
        "x = 1 # \rimport os; os.remove('a')",
        "open('a', 'w')",
        "from pathlib import Path; Path('a').replace('b')",
        "from pathlib import Path; Path('a').copy('b')",
        "from pathlib import Path; list(map(Path.unlink, [Path('a')]))",
        "from pathlib import Path; print([p.read_text() for p in Path('.').iterdir()])",
        "import pathlib; pathlib.Path('a').write_text('b')",
        "open('a', **{'mode': 'w'})",
        "print(1",
    ];
    assert_decisions("python3 -c", &scripts, false);
}

#[cfg(feature = "javascript")]
#[test]
fn javascript_that_only_prints_is_allowed() {
    let scripts = [
        "console.log(require('./package.json').version)",
        "const p = require('./package.json'); for (const [k, v] of Object.entries(p.scripts)) console.log(k, v)",
        "const os = require('os'); console.log(os.cpus().length, os.platform())",
        "const {cpus: c, platform} = require('node:os'); console.log(c(), platform())",
        "const f = n => n < 2 ? n : f(n - 1) + f(n - 2); console.log(f(10))",
        "console.log([1, 2].map(x => x * 2).filter(Number), `a${1 + 1}`)",
        "const fs = require('fs'); console.log(JSON.parse(fs.readFileSync('a.json', 'utf8')).b)",
        "let s = 0; for (let i = 0; i < 9; i++) { s += i } console.log(s) // it's 36",
        "console.log('a-b'.replace(/-/g, '_'), new Date().toISOString())",
    ];
    assert_decisions("node -e", &scripts, true);
}

#[test]
fn javascript_that_may_reach_other_functions_needs_confirmation() {
    let scripts = [
        // Globals of node, declared in another scope or not at all.
        "{ let eval = 1 } ['1'].map(eval)",
        "var process; [1].map(process.abort)",
        "[1].map(process.abort)",
        "process = {}; [1].map(process.abort)",
        "for (process of []) {} [1].map(process.abort)",
        "['a'].map(require('os').setPriority)",
        "const o = {...require('os')}; o.setPriority(1)",
        "[1].map(fs.rmSync)",
        "require('fs').readFileSync('a', {flag: 'w'})",
        "['a'].map(require('fs').readFileSync)",
        "const {rmSync} = require('fs'); rmSync('a')",
        // Access to the constructor of functions.
        "[].map.constructor('x')()",
        "[]['map']['constr' + 'uctor']('x')",
        "const {constructor: f} = Number; ['x'].map(f)",
        "const {['constructor']: f} = Number; ['x'].map(f)",
        "const k = 'constructor'; [Number[k]].map(x => x)",
        "Function`x```",
        // Quotes that do not begin a string.
        "/'/; process.abort() /'/",
        "/* ' */ process.abort() /* ' */",
        "<!-- '\nprocess.abort() //'",
        "{} /'/; process.abort() /'/",
        "import('fs')",
        "process['ki' + 'll'](1)",
        "console.log(1",
    ];
    assert_decisions("node -e", &scripts, false);
}

#[test]
fn perl_ruby_php_and_lua_with_known_words_are_allowed() {
    let scripts = [
        "print if $. >= 10 && $. <= 20",
        "print \"$1\\n\" while /href=\"([^\"]+)\"/g",
        "print \"$F[0] $h{name}\"",
        "s/foo/bar/g",
        "$s += $_; END { print $s }",
        "print join(\"\\t\", @F[0..2])",
        "print scalar(() = /x/g)",
        "my %seen; print unless $seen{$_} == 1",
    ];
    assert_decisions("perl -ne", &scripts, true);
    assert_decisions(
        "ruby -e",
        &["puts RUBY_VERSION", "puts Time.now.strftime(\"%F\")"],
        true,
    );
    assert_decisions(
        "php -r",
        &["echo PHP_VERSION, PHP_EOL;", "echo json_encode([1, 2]);"],
        true,
    );
    assert_decisions("lua -e", &["print(string.format(\"%d\", 3))"], true);
}

#[test]
fn perl_ruby_php_and_lua_with_ambiguous_quotes_need_confirmation() {
    let scripts = [
        "print $'; unlink \"x\"; print $'",
        "print 1; # \"\nunlink(\"x\"); # \"",
        "print $x / 2; unlink \"f\"; print 1 / 3",
        "print $h{a} / 2; unlink \"f\"; print 1 / 3",
        "print time / 2; unlink \"f\"; print 1 / 3",
        "print \"$h{unlink q(x)}\"",
        "print \"@{[unlink q(x)]}\"",
        "s/x/unlink q(x)/e",
        "BEGIN { @ARGV = (\"ls|\") } print",
        "%/unless unlink ,**/g",
        "**%unlink ",
        "1.%unlink;",
        "print `id`",
        "=for x\nprint",
    ];
    assert_decisions("perl -ne", &scripts, false);
    let scripts = [
        "?'; File.delete(\"x\") ?'",
        "p ?'; exit! ; p ?'",
        "\"\".send(\"system\", \"ls\")",
        "puts \"#{system(%q(ls))}\"",
        "puts /'/; exit! /'/",
        "puts %q('); exit!; %q(')",
    ];
    assert_decisions("ruby -e", &scripts, false);
    let scripts = [
        "/* ' */ unlink(\"x\"); /* ' */",
        "$f = \"unlink\"; $f(\"x\");",
        "(\"unlink\")(\"x\");",
        "print \"{$x->y()}\";",
        "?>'<?php unlink(\"x\"); ?>'<?php",
    ];
    assert_decisions("php -r", &scripts, false);
    let scripts = [
        "--[[ ' ]] os.remove(\"x\") --[[ ' ]]",
        "os.remove\"x\"",
        "print([[']]) os.exit() print([[']])",
    ];
    assert_decisions("lua -e", &scripts, false);
}

#[test]
fn only_reads_are_allowed_in_a_database_shell() {
    let scripts = [
        "db.users.find({age: {$gt: 3}}).sort({a: 1}).limit(5)",
        "show dbs",
        "db.getCollectionNames()",
    ];
    assert_decisions(
        "mongosh --quiet --eval",
        &scripts,
        cfg!(feature = "javascript"),
    );
    let scripts = [
        "db[\"a\"][\"drop\"]()",
        "db.a.find().forEach(x => db.b.drop())",
        "/'/; quit() /'/",
        "db.a.aggregate([{$out: \"b\"}])",
    ];
    assert_decisions("mongosh --quiet --eval", &scripts, false);
}
