//! Grammar of the generated programs, read from `grammar.txt`.

use std::collections::HashMap;

/// Where a kind of statement may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Anywhere,
    InFunction,
    /// Not in functions that may be called from there.
    OutsideFunctions,
    InLoop,
}

pub(super) struct Kind {
    pub(super) name: &'static str,
    /// How often it is chosen.
    pub(super) weight: usize,
    pub(super) place: Place,
    pub(super) templates: Vec<String>,
}

/// The kinds of statements, and the lists of the gaps.
pub(super) struct Grammar {
    pub(super) kinds: Vec<Kind>,
    pub(super) lists: HashMap<char, Vec<String>>,
}

/// What a variable is used for: texts that only read there, texts that make a file, and others.
pub(super) struct Role {
    pub(super) names: &'static [&'static str],
    pub(super) harmless: &'static [&'static str],
    pub(super) makes: &'static [&'static str],
    pub(super) other: &'static [&'static str],
}

/// Programs, options of `sort`, scripts of `sed`, operands of `uniq` and `find`, and targets of redirections.
pub(super) const ROLES: &[Role] = &[
    Role {
        names: &["a", "b", "c"],
        harmless: &["echo", "ls", "true", ":", "cat"],
        makes: &["touch", "touch", "'touch M'", "'touch N'"],
        other: &[
            "''",
            "xtouch",
            "touchx",
            "tou",
            "ch",
            "uch",
            "echo:touch",
            "'echo touch'",
            "x",
            "1",
            "a",
            "b",
            "'a b'",
            "lsxtouch",
            "'*'",
            "'$b'",
            "'$(touch M)'",
            "'x[$(touch M)]'",
            "-",
        ],
    },
    // Unset at first.
    Role {
        names: &["q"],
        harmless: &["echo", "''", "true"],
        makes: &["touch"],
        other: &["x", "'touch M'", "echo:touch", "'$a'"],
    },
    Role {
        names: &["o"],
        harmless: &["-r", "-n", "f", "''"],
        makes: &["-oM"],
        other: &["x", "'-r -oM'", "-", "-r:-oM", "oM"],
    },
    Role {
        names: &["s"],
        harmless: &["p", "1p", "''", "-n"],
        makes: &["'w M'", "wM"],
        other: &["x", "-e", "'p w M'", "'-n -e wM'", "'s/x/y/'"],
    },
    Role {
        names: &["u"],
        harmless: &["f", "-", "''", "-print"],
        makes: &["M", "'-fprint M'"],
        other: &["x", "'f M'", "'f:M'", "-fprint", "'*'"],
    },
    Role {
        names: &["r"],
        harmless: &["/dev/null", "/dev/null", "/dev/stdout"],
        makes: &["M"],
        other: &["''", "/dev/nullM", "missing/d", "1", "'&1'"],
    },
];

/// Functions; each may call those before it.
pub(super) const FUNCTIONS: &[&str] = &["g", "h"];

const TEXT: &str = include_str!("grammar.txt");

impl Grammar {
    pub(super) fn read() -> Self {
        let mut kinds = Vec::new();
        let mut lists = HashMap::new();
        for section in TEXT.split("\n== ").skip(1) {
            let (heading, rest) = section.split_once('\n').expect("templates");
            let lines = rest.lines().filter(|line| !line.is_empty());
            let templates: Vec<_> = lines.map(unescaped).collect();
            assert!(!templates.is_empty(), "{heading}");
            if let Some(gap) = heading.strip_prefix('@') {
                lists.insert(gap.chars().next().expect("a gap"), templates);
                continue;
            }
            let mut parts = heading.split(", ");
            let mut part = || parts.next();
            kinds.push(Kind {
                name: part().expect("a name"),
                weight: part().and_then(|part| part.parse().ok()).expect("a weight"),
                place: match part() {
                    None => Place::Anywhere,
                    Some("in a function") => Place::InFunction,
                    Some("outside of functions") => Place::OutsideFunctions,
                    Some("in a loop") => Place::InLoop,
                    Some(other) => panic!("unknown place `{other}`"),
                },
                templates,
            });
        }
        Self { kinds, lists }
    }

    /// Returns the kind with the last command of each program.
    pub(super) fn run(&self) -> &Kind {
        &self.kinds[0]
    }
}

fn unescaped(line: &str) -> String {
    line.replace('⏎', "\n")
        .replace('⇥', "\t")
        .replace('␍', "\r")
}
