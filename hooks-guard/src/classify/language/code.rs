//! Scripts in general languages: code, unless it is provably harmless; words
//! that delete or change something raise the class.

use std::sync::LazyLock;

use regex::Regex;

use crate::classify::judge::{Arg, Input, Judge, UNKNOWN};
use crate::classify::tables::{Effect, Language};

/// Calls that delete, by parts of the text.
const DELETES: &[&str] = &[
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.removedirs",
    "shutil.rmtree",
    ".rmtree(",
    ".unlink(",
    "unlink(",
    ".rmdir(",
    "rmdir(",
    "fs.rm",
    "rmSync",
    "unlinkSync",
    "rmdirSync",
    "rimraf",
    "FileUtils.rm",
    "File.delete",
    "Dir.delete",
    "Dir.rmdir",
    "remove_tree",
    "rmtree",
    "unlink ",
    "unlink<",
    "unlink@",
    "unlink glob",
    "unlink $",
    "os.truncate",
    ".truncate(",
    "truncate(",
    "Deno.remove",
    "os.RemoveAll",
    "fs.unlink",
    "fs.rmdir",
    ".deleteMany(",
    "emptyDirSync",
    "removeSync",
    "drop_all(",
    "File.unlink",
    "delete_all",
    "destroy_all",
    "os.remove(",
    "'unlink'",
    "\"unlink\"",
    "file delete",
    "(delete-directory",
    "(delete-file",
    "file.remove(",
    "File.rm",
];
const UPDATES: &[&str] = &[
    "os.rename",
    "os.replace",
    "shutil.move",
    "os.chmod",
    "os.chown",
    "renameSync",
    "chmodSync",
    "fs.rename",
    "File.rename",
    "FileUtils.mv",
    "appendFile",
    ",'a')",
    ",\"a\")",
    ", 'a')",
    ", \"a\")",
    "rename(",
    "chmod(",
    "FileUtils.chmod",
    "os.utime",
    "method='PUT'",
    "method='PATCH'",
    "method=\"PUT\"",
    "method=\"PATCH\"",
    "method: 'PUT'",
    "method: 'PATCH'",
    "(write-region",
    "(rename-file",
    "file rename",
];
/// Calls that run a text as a shell command.
const SHELLS: &[&str] = &[
    "os.system(",
    "os.popen(",
    "subprocess.run(",
    "subprocess.call(",
    "subprocess.check_call(",
    "subprocess.check_output(",
    "subprocess.Popen(",
    "subprocess.getoutput(",
    "execSync(",
    "exec(",
    "spawnSync(",
    "spawn(",
    "system(",
    "system ",
    "exec ",
    "execFileSync(",
    "shell_exec(",
    "passthru(",
    "popen(",
    "os.execute(",
    "io.popen(",
    "%x(",
    "%x{",
    "`",
    "qx(",
    "qx{",
    "qx/",
    "execa(",
    "system<",
    "(shell-command ",
    "open(\"|",
    "open('|",
];

pub(super) fn judge(judge: &mut Judge<'_>, language: Language, arg: &Arg) {
    let text = &arg.text;
    if !text.contains(UNKNOWN)
        && (harmless(language, text) || (language == Language::Perl && filter(text)))
    {
        judge.find(Effect::Read, arg.span, "a script that only prints");
        for part in text.split(['\'', '"']) {
            judge.input_file(&arg.with(part));
        }
        return;
    }
    judge.find(Effect::Code, arg.span, "runs code that may do anything");
    let compact: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let removes = compact
        .match_indices("rm(")
        .any(|(at, _)| !compact[..at].ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c)));
    if language == Language::Code && removes {
        judge.find(Effect::Delete, arg.span, "the code has `rm(` in it");
    }
    if let Some(word) = DELETES.iter().find(|word| compact.contains(**word)) {
        judge.find(
            Effect::Delete,
            arg.span,
            format!("the code has `{}` in it", word.trim()),
        );
    } else if let Some(word) = UPDATES.iter().find(|word| compact.contains(**word)) {
        judge.find(
            Effect::Update,
            arg.span,
            format!("the code has `{}` in it", word.trim()),
        );
    }
    for opening in SHELLS {
        for (at, _) in text.match_indices(opening) {
            if let Some(command) = argument(&text[at + opening.len()..], opening) {
                judge.shell_text(&arg.with(&command), &Input::Unknown);
            }
        }
    }
}

/// The strings that a call is given, as one command line.
fn argument(rest: &str, opening: &str) -> Option<String> {
    let closing = match opening.chars().last()? {
        '`' => Some('`'),
        '{' => Some('}'),
        '/' => Some('/'),
        '|' => opening.chars().rev().nth(1),
        '(' if opening.starts_with("qx") || opening.starts_with("%x") => Some(')'),
        _ => None,
    };
    if let Some(closing) = closing {
        return rest
            .split_once(closing)
            .map(|(inside, _)| inside.to_owned());
    }
    let mut words = Vec::new();
    let mut characters = rest.chars().peekable();
    let mut depth = 1usize;
    while let Some(c) = characters.next() {
        match c {
            '"' | '\'' => {
                let mut word = String::new();
                while let Some(inside) = characters.next() {
                    match inside {
                        '\\' => word.extend(characters.next()),
                        end if end == c => break,
                        other => word.push(other),
                    }
                }
                words.push(word);
            }
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            ';' | '\n' => break,
            _ => {}
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// A call of Python's `open` that says, besides the name, only that it reads.
static READS: LazyLock<Regex> = LazyLock::new(|| {
    let name = r#"open\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')"#;
    let mode = r#"(?:mode\s*=\s*)?["'](?:r|rb|rt)["']"#;
    let encoding = r#"encoding\s*=\s*["'][\w-]+["']"#;
    let reads = format!(r"({name})(?:\s*,\s*(?:{mode}|{encoding}))+\s*\)");
    Regex::new(&reads).expect("a pattern")
});

/// Whether every call in it is one that only computes or prints, and
/// nothing is opened, imported or run that could do more.
fn harmless(language: Language, text: &str) -> bool {
    let text = &*match language {
        Language::Python => READS.replace_all(text, "$1)"),
        _ => text.into(),
    };
    let Some(bare) = without_strings(language, text) else {
        return false;
    };
    let allowed: &[&str] = match language {
        Language::Python => &[
            "print",
            "len",
            "str",
            "int",
            "float",
            "repr",
            "sorted",
            "sum",
            "min",
            "max",
            "range",
            "list",
            "dict",
            "set",
            "tuple",
            "abs",
            "round",
            "hex",
            "bin",
            "ord",
            "chr",
            "oct",
            "enumerate",
            "zip",
            "bool",
            "type",
            "any",
            "all",
            "reversed",
            "divmod",
            "pow",
            "format",
            "json.load",
            "json.loads",
            "ast.dump",
            "ast.parse",
            "tomllib.load",
            "tomllib.loads",
            "csv.reader",
            "glob.glob",
            "json.dumps",
            "sys.stdin.read",
            "sys.stdin.readlines",
            "sys.stdin.readline",
            "platform.python_version",
            "platform.platform",
            "platform.machine",
            "platform.system",
            "os.getcwd",
            "os.listdir",
            "os.cpu_count",
            "math.sqrt",
            "math.floor",
            "math.ceil",
            "math.log",
            "math.log2",
            "datetime.datetime.now",
            "datetime.date.today",
            "datetime.now",
            "datetime.utcnow",
            "date.today",
            "time.time",
            "hashlib.sha256",
            "hashlib.md5",
            "hashlib.sha1",
            "base64.b64encode",
            "base64.b64decode",
            "sysconfig.get_paths",
            "sysconfig.get_path",
            "site.getsitepackages",
            "urllib.parse.quote",
            "urllib.parse.unquote",
            "uuid.uuid4",
            "secrets.token_hex",
            "random.randint",
            "random.random",
            "statistics.mean",
            "statistics.median",
            "join",
            "split",
            "strip",
            "upper",
            "lower",
            "keys",
            "values",
            "items",
            "get",
            "startswith",
            "endswith",
            "decode",
            "encode",
            "hexdigest",
            "replace",
            "isoformat",
            "strftime",
            "count",
            "index",
            "splitlines",
            "title",
            "rstrip",
            "lstrip",
            "zfill",
            "re.findall",
            "re.search",
            "re.sub",
            "re.match",
            "group",
            "groups",
            "collections.Counter",
            "Counter",
            "most_common",
            "timestamp",
            "textwrap.dedent",
            "read",
            "in",
            "if",
            "for",
            "and",
            "or",
            "not",
            "else",
            "return",
            "lambda",
            "is",
            "while",
            "elif",
            "with",
            "as",
            "find_spec",
            "importlib.metadata.version",
            "importlib.util.find_spec",
            "struct.calcsize",
            "fractions.Fraction",
            "decimal.Decimal",
            "version",
            "pprint.pprint",
            "isinstance",
            "map",
            "filter",
            "next",
            "iter",
            "bytes",
            "ascii",
            "sys.getsizeof",
            "sys.getrecursionlimit",
            "os.path.join",
            "os.path.exists",
            "os.path.abspath",
            "os.path.expanduser",
            "os.path.basename",
            "os.path.dirname",
            "os.environ.get",
            "os.getenv",
        ],
        Language::Node => &[
            "console.log",
            "console.error",
            "JSON.stringify",
            "JSON.parse",
            "Math.max",
            "Math.min",
            "Math.round",
            "Math.floor",
            "Math.ceil",
            "Math.pow",
            "Math.sqrt",
            "Math.random",
            "Date.now",
            "Object.keys",
            "Object.values",
            "Object.entries",
            "Number",
            "String",
            "parseInt",
            "parseFloat",
            "process.cwd",
            "process.uptime",
            "process.memoryUsage",
            "join",
            "split",
            "toString",
            "toFixed",
            "toUpperCase",
            "toLowerCase",
            "slice",
            "filter",
            "map",
            "length",
            "toISOString",
            "Date",
            "os.cpus",
            "os.totalmem",
            "os.freemem",
            "os.platform",
            "encodeURIComponent",
            "decodeURIComponent",
            "from",
            "Buffer.from",
            "reduce",
            "sort",
            "includes",
            "trim",
            "replace",
            "repeat",
            "padStart",
            "reverse",
            "Array.from",
            "BigInt",
            "Boolean",
            "isNaN",
            "if",
            "for",
            "require",
        ],
        Language::Ruby => &[
            "puts",
            "print",
            "p",
            "join",
            "to_s",
            "to_i",
            "upcase",
            "downcase",
            "Time.now",
            "JSON.parse",
            "length",
            "size",
        ],
        Language::Perl => &[
            "print",
            "join",
            "length",
            "uc",
            "lc",
            "scalar",
            "sprintf",
            "printf",
            "localtime",
            "reverse",
            "sort",
            "split",
            "map",
            "if",
            "keys",
            "substr",
            "abs",
            "int",
            "sqrt",
            "say",
        ],
        Language::Php => &[
            "phpversion",
            "json_encode",
            "json_decode",
            "strlen",
            "strtoupper",
            "strtolower",
            "var_dump",
            "print_r",
            "date",
            "time",
            "ini_get",
            "php_uname",
            "implode",
            "get_loaded_extensions",
            "print",
            "echo",
        ],
        Language::Lua => &[
            "print",
            "tostring",
            "string.format",
            "math.floor",
            "string.rep",
            "tonumber",
        ],
        _ => return false,
    };
    // A call of what an index names.
    let dense: String = bare.split_whitespace().collect();
    if dense.contains("](") {
        return false;
    }
    if bare.contains("__") && !bare.contains("__version__") && !bare.contains("__file__") {
        return false;
    }
    // What could reach further: attributes by name, evaluation, files.
    const NEVER: &[&str] = &[
        "eval",
        "exec",
        "open",
        "import_module",
        "getattr",
        "setattr",
        "globals",
        "compile",
        "system",
        "popen",
        "spawn",
        "socket",
        "urlopen",
        "Function",
        "process.binding",
        "child_process",
        "writeFile",
        "unlink",
        "write_text",
        "write_bytes",
        "ctypes",
        "requests",
        "fetch",
        "file_put_contents",
        "fopen",
        "backtick",
        "`",
        "qx",
        "%x",
        "process.exit",
        "process.kill",
        "mkdir",
        "touch",
        "chmod",
        "rename",
        "kill",
        "subprocess",
        "shutil",
        "pickle",
        "marshal",
    ];
    let bare = if language == Language::Python {
        // A file that is opened without a mode is read.
        bare.replace("open( 0 )", "len( 0 )")
    } else {
        bare
    };
    if NEVER.iter().any(|word| bare.contains(word)) {
        return false;
    }
    if !imports_harmless(language, text, &bare) {
        return false;
    }
    // `print > file`, redirections and in-place marks of Perl and its like.
    if matches!(language, Language::Perl | Language::Ruby)
        && (bare.contains('<') || bare.contains('>') || bare.contains('|') || bare.contains("~"))
    {
        return false;
    }
    if matches!(
        language,
        Language::Perl | Language::Ruby | Language::Php | Language::Lua
    ) {
        // Words may be calls without brackets there.
        return bare
            .split(|c: char| {
                !(c.is_alphanumeric() || c == '_' || c == '.' || c == '$' || c == '@' || c == '%')
            })
            .filter(|word| word.starts_with(|c: char| c.is_alphabetic()))
            .all(|word| {
                allowed.contains(&word)
                    || matches!(
                        word,
                        "RUBY_VERSION"
                            | "PHP_VERSION"
                            | "PHP_EOL"
                            | "_VERSION"
                            | "and"
                            | "or"
                            | "if"
                            | "PHP_OS"
                            | "x"
                    )
            });
    }
    // Assignments to attributes or items change objects, which may be anything.
    let mut word = String::new();
    let mut previous = ' ';
    for c in bare.chars() {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
        } else {
            if c == '(' && !word.is_empty() {
                let last = word.rsplit('.').next().unwrap_or(&word);
                let method = word.starts_with('.') || word.contains('.');
                let fine = allowed.contains(&word.as_str())
                    || (method && !is_module(language, &word) && allowed.contains(&last));
                if !fine {
                    return false;
                }
            }
            if c == '(' && word.is_empty() && previous == ')' {
                return false;
            }
            if !c.is_whitespace() {
                previous = c;
            }
            word.clear();
        }
        if c == '@' || (c == '=' && language == Language::Python && bare.contains(".sys")) {
            return false;
        }
    }
    true
}

/// The letters and digits that a text ends with.
fn last_word(text: &str) -> &str {
    let before = text.trim_end_matches(char::is_alphanumeric);
    &text[before.len()..]
}

/// Whether a Perl text only prints and replaces in lines: statements such as
/// `print if /x/`, `s/a/b/g`, `print "$1\n" while /(x)/g`.
fn filter(text: &str) -> bool {
    if [
        "@{", "${", "(?{", "(??{", "`", "qx", "<", ">", "|&", "open", "system", "exec", "eval",
        "do ", "require", "use ", "&",
    ]
    .iter()
    .any(|bad| text.contains(bad))
    {
        return false;
    }
    // Regular expressions and strings out, then only these words may be left.
    let characters: Vec<char> = text.chars().collect();
    let mut left = String::new();
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        at += 1;
        let word = last_word(&left);
        match c {
            '"' | '\'' => match skip(&characters, at, c) {
                Some(end) => at = end,
                None => return false,
            },
            '/' if word == "s" || word == "y" || word == "tr" => {
                let Some(middle) = skip(&characters, at, '/') else {
                    return false;
                };
                let Some(end) = skip(&characters, middle, '/') else {
                    return false;
                };
                at = end;
                while let Some(flag) = characters.get(at).filter(|c| c.is_alphabetic()) {
                    if !"gimsxrc".contains(*flag) {
                        return false;
                    }
                    at += 1;
                }
                left.truncate(left.len() - word.len());
            }
            '/' => {
                let Some(end) = skip(&characters, at, '/') else {
                    return false;
                };
                at = end;
                while characters.get(at).is_some_and(|c| "gimsx".contains(*c)) {
                    at += 1;
                }
                if word == "m" {
                    left.pop();
                }
            }
            _ => left.push(c),
        }
    }
    left.split(|c: char| !(c.is_alphanumeric() || "_$@%.".contains(c)))
        .filter(|word| {
            !word.is_empty()
                && !word.starts_with(['$', '@', '%', '.'])
                && !word.chars().all(|c| c.is_ascii_digit())
        })
        .all(|word| {
            matches!(
                word,
                "print"
                    | "if"
                    | "unless"
                    | "and"
                    | "or"
                    | "not"
                    | "while"
                    | "printf"
                    | "next"
                    | "last"
                    | "END"
                    | "BEGIN"
                    | "uc"
                    | "lc"
                    | "length"
                    | "join"
                    | "eof"
                    | "say"
                    | "my"
                    | "chomp"
                    | "split"
                    | "x"
                    | "eq"
                    | "ne"
                    | "sum"
                    | "sort"
                    | "keys"
                    | "scalar"
                    | "substr"
                    | "reverse"
                    | "close"
                    | "ARGV"
                    | "for"
                    | "foreach"
            )
        })
}

fn skip(characters: &[char], mut at: usize, end: char) -> Option<usize> {
    loop {
        match characters.get(at)? {
            '\\' => at += 1,
            c if *c == end => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

fn is_module(language: Language, word: &str) -> bool {
    let head = word.split('.').next().unwrap_or("");
    match language {
        Language::Python => matches!(
            head,
            "os" | "sys"
                | "json"
                | "importlib"
                | "pathlib"
                | "io"
                | "re"
                | "time"
                | "site"
                | "platform"
        ),
        _ => matches!(
            head,
            "fs" | "process" | "os" | "child_process" | "Object" | "Reflect"
        ),
    }
}

fn imports_harmless(language: Language, text: &str, bare: &str) -> bool {
    match language {
        Language::Python => {
            const MODULES: &[&str] = &[
                "sys",
                "json",
                "os",
                "platform",
                "math",
                "datetime",
                "time",
                "hashlib",
                "base64",
                "sysconfig",
                "site",
                "urllib.parse",
                "uuid",
                "secrets",
                "random",
                "statistics",
                "ast",
                "tomllib",
                "csv",
                "glob",
                "re",
                "collections",
                "string",
                "textwrap",
                "struct",
                "importlib.metadata",
                "importlib.util",
                "fractions",
                "decimal",
                "pprint",
                "itertools",
                "functools",
                "ssl",
                "sqlite3",
                "locale",
                "calendar",
                "ipaddress",
                "unicodedata",
                "html",
                "keyword",
                "zlib",
            ];
            let bare = bare.replace(['\n', ';'], " ; ");
            let mut words = bare.split_whitespace().peekable();
            while let Some(word) = words.next() {
                if word == "from" {
                    let Some(module) = words.next() else {
                        return false;
                    };
                    if !MODULES.contains(&module) || module == "os" || module == "sys" {
                        return false;
                    }
                    for name in words.by_ref() {
                        if name == ";" {
                            break;
                        }
                        if name == "as" || name == "*" {
                            return false;
                        }
                    }
                } else if word == "import" {
                    for name in words.by_ref() {
                        if name == ";" {
                            break;
                        }
                        for name in name.split(',').filter(|name| !name.is_empty()) {
                            // Any package may run code when it is imported; these are Python's own.
                            if !MODULES.contains(&name) {
                                return false;
                            }
                        }
                    }
                }
            }
            true
        }
        Language::Node => {
            let mut rest = text;
            while let Some((_, after)) = rest.split_once("require(") {
                let name = after
                    .get(1..)
                    .and_then(|a| a.split(['\'', '"', '`']).next())
                    .unwrap_or("");
                let data = name.ends_with(".json")
                    || matches!(
                        name,
                        "os" | "path" | "util" | "crypto" | "url" | "node:os" | "node:path"
                    );
                if !data {
                    return false;
                }
                rest = after;
            }
            !bare.contains("import")
        }
        _ => !["require", "use ", "include", "load", "dofile", "do "]
            .iter()
            .any(|word| bare.contains(word)),
    }
}

/// The text without what is in strings; `None` where strings may hold code.
fn without_strings(language: Language, text: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' | '\'' => {
                let formatted = language == Language::Python && out.ends_with(['f', 'F']);
                let interpolates = formatted
                    || (matches!(language, Language::Ruby | Language::Perl | Language::Php)
                        && c == '"');
                if formatted {
                    out.pop();
                }
                let mut inside = String::new();
                let mut closed = false;
                while let Some(next) = characters.next() {
                    match next {
                        '\\' => {
                            characters.next();
                        }
                        end if end == c => {
                            closed = true;
                            break;
                        }
                        other => inside.push(other),
                    }
                }
                if !closed {
                    return None;
                }
                if interpolates {
                    // What braces hold is code of the same kind.
                    if language == Language::Python {
                        let mut rest = inside.as_str();
                        while let Some((_, after)) = rest.split_once('{') {
                            let (code, next) = after.split_once('}')?;
                            out.push(' ');
                            out.push_str(
                                code.split('!')
                                    .next()
                                    .unwrap_or(code)
                                    .split(':')
                                    .next()
                                    .unwrap_or(code),
                            );
                            out.push(' ');
                            rest = next;
                        }
                    } else if inside.contains("#{")
                        || inside.contains("@{")
                        || inside.contains("${")
                    {
                        return None;
                    }
                }
                out.push_str(" 0 ");
            }
            '`' => {
                if language != Language::Node {
                    return None;
                }
                let mut inside = String::new();
                loop {
                    match characters.next()? {
                        '`' => break,
                        '\\' => {
                            characters.next();
                        }
                        other => inside.push(other),
                    }
                }
                if inside.contains("${") {
                    return None;
                }
                out.push_str(" 0 ");
            }
            '#' if language == Language::Python => {
                while characters.peek().is_some_and(|c| *c != '\n') {
                    characters.next();
                }
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

/// The shell of a document database.
pub(super) fn mongo(judge: &mut Judge<'_>, arg: &Arg) {
    let text: String = arg.text.split_whitespace().collect();
    let lower = text.to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let effect = if any(&[
        "deleteone",
        "deletemany",
        "findoneanddelete",
        ".delete(",
        "remove(",
        "drop(",
        "dropdatabase",
        "dropindex",
        "dropindexes",
        "dropuser",
    ]) {
        Effect::Delete
    } else if any(&[
        "update",
        "replaceone",
        "findandmodify",
        "findoneand",
        "bulkwrite",
        "rename",
        "grant",
        "revoke",
    ]) {
        Effect::Update
    } else if any(&["insert", "create", "save("]) {
        Effect::Create
    } else if !arg.known()
        || any(&[
            "eval",
            "require",
            "load(",
            "$out",
            "$merge",
            "runcommand",
            "admincommand",
            "=>",
            "function",
            "shutdown",
            "process.",
        ])
    {
        Effect::Code
    } else {
        // Only names of calls that read.
        const READS: &[&str] = &[
            "find",
            "findone",
            "count",
            "countdocuments",
            "estimateddocumentcount",
            "aggregate",
            "distinct",
            "stats",
            "getcollectionnames",
            "getcollectioninfos",
            "getindexes",
            "limit",
            "sort",
            "skip",
            "pretty",
            "toarray",
            "explain",
            "serverstatus",
            "version",
            "getname",
            "hostinfo",
            "status",
            "ping",
            "printjson",
            "print",
            "listcollections",
            "datasize",
            "projection",
            "hello",
            "ismaster",
            "hasnext",
            "next",
            "getdb",
            "getsiblingdb",
            "getusers",
            "currentop",
            "size",
            "getmongo",
            "getcollection",
            "show",
            "objectid",
            "isodate",
            "totalsize",
            "storagesize",
            "getdbs",
            "getdbnames",
            "json.stringify",
            "stringify",
            "getreplicationinfo",
            "conf",
            "isclustermember",
            "numberlong",
            "date",
            "validate",
        ];
        let calls = lower.split('(').collect::<Vec<_>>();
        let all = calls[..calls.len() - 1].iter().all(|part| {
            let name = last_word(part);
            name.is_empty() || READS.contains(&name)
        });
        if all && !lower.contains("={") {
            Effect::Read
        } else {
            Effect::Code
        }
    };
    judge.find(effect, arg.span, "a script of the database's shell");
}
