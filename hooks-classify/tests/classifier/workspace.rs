//! Commands with a workspace: limits of questions, folders, patterns, variables, other places.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use hooks_classify::{
    Answer, Classification, Classifier, Crud, Decision, Entry, Variable, Workspace,
};

/// Files in memory. A text that begins with `-> ` is the target of a link.
#[derive(Clone, Debug, Default)]
struct Files {
    files: BTreeMap<String, String>,
    variables: Option<Vec<(&'static str, &'static str)>>,
    questions: Arc<Mutex<Vec<String>>>,
}

impl Files {
    fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let mut all = Self::default();
        for (path, text) in files {
            all.add(path, text);
        }
        all
    }

    fn add(&mut self, path: &str, text: &str) {
        let path = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/srv/u/p/{path}"),
        };
        self.files.insert(path, text.to_owned());
    }

    fn ask(&self, question: &str) {
        self.questions
            .lock()
            .expect("a lock")
            .push(question.to_owned());
    }

    fn is_folder(&self, path: &str) -> bool {
        let below = format!("{}/", path.trim_end_matches('/'));
        path == "/srv/u/p" || self.files.keys().any(|file| file.starts_with(&below))
    }
}

impl Workspace for Files {
    fn folder(&self) -> Option<String> {
        Some("/srv/u/p".to_owned())
    }

    fn home(&self) -> Option<String> {
        Some("/srv/u".to_owned())
    }

    fn entry(&self, path: &str) -> Answer<Entry> {
        self.ask(&format!("entry {path}"));
        match self.files.get(path) {
            Some(text) => Answer::Known(match text.strip_prefix("-> ") {
                Some(target) => Entry::Link {
                    target: Some(target.to_owned()),
                },
                None => Entry::File,
            }),
            None if self.is_folder(path) => Answer::Known(Entry::Folder),
            None => Answer::Absent,
        }
    }

    fn text(&self, path: &str, max_bytes: usize) -> Answer<String> {
        self.ask(&format!("text {path}"));
        match self.files.get(path) {
            Some(text) if text.len() > max_bytes => Answer::Unknown,
            Some(text) => Answer::Known(text.clone()),
            None => Answer::Absent,
        }
    }

    fn names(&self, folder: &str, max_names: usize) -> Answer<Vec<String>> {
        self.ask(&format!("names {folder}"));
        if !self.is_folder(folder) {
            return Answer::Absent;
        }
        let below = format!("{}/", folder.trim_end_matches('/'));
        let names = self
            .files
            .keys()
            .filter_map(|file| file.strip_prefix(&below));
        let mut names: Vec<String> = names
            .filter_map(|rest| Some(rest.split('/').next()?.to_owned()))
            .collect();
        names.dedup();
        match names.len() > max_names {
            true => Answer::Unknown,
            false => Answer::Known(names),
        }
    }

    fn variables(&self) -> Answer<Vec<Variable>> {
        match &self.variables {
            Some(variables) => {
                let variable = |(name, value): &(&str, &str)| Variable {
                    name: (*name).to_owned(),
                    value: Some((*value).to_owned()),
                };
                Answer::Known(variables.iter().map(variable).collect())
            }
            None => Answer::Unknown,
        }
    }
}

fn classify(files: &Files, command: &str) -> Classification {
    let classifier = Classifier::new().with_workspace(files.clone());
    classifier.classify(command).expect("a command")
}

fn asks(files: &Files, command: &str) -> bool {
    classify(files, command).decision == Decision::RequiresConfirmation
}

#[test]
fn a_folder_that_is_not_there_leaves_the_shell_where_it_is() {
    let files = Files::new([(".pnpmfile.cjs", ""), ("web/package.json", "{}")]);
    assert!(asks(&files, "pnpm ls"));
    assert!(!asks(&files, "cd web && pnpm ls"));
    assert!(asks(&files, "cd absent; pnpm ls"));
    assert!(asks(&files, "cd web/..; pnpm ls"));
    assert!(!asks(&files, "(cd /srv/u/p/web; pnpm ls)"));
    assert!(asks(&files, "(cd web); pnpm ls"));
    assert!(asks(&files, "pushd web; popd; pnpm ls"));
    assert!(!asks(&files, "pushd web; pnpm ls"));
    assert!(asks(&files, "cd web; cd -; pnpm ls"));
    assert!(asks(&files, "cd web; pushd; pnpm ls"));
    assert!(asks(&files, "cd web || true; cd - > /dev/null; pnpm ls"));
    assert!(asks(&files, "if true; then cd web; fi; pnpm ls"));
    assert!(!asks(&files, "pnpm -C web ls"));
    assert!(asks(&files, "cd web && pnpm -C .. ls"));
    assert!(asks(&files, "f() { pnpm ls; }; cd web; cd ..; f"));
}

#[test]
fn a_folder_that_is_only_known_at_run_time_asks_if_the_program_loads_files() {
    let files = Files::new([("web/package.json", "{}")]);
    assert!(asks(&files, "cd \"$(cat place)\" && pnpm ls"));
    assert!(!asks(&files, "cd \"$(cat place)\" && ls"));
    // Without a workspace, the text decides.
    let text = Classifier::new().classify("cd \"$(cat place)\" && pnpm ls");
    assert_eq!(text.expect("a command").crud, Crud::Read);
}

#[test]
fn the_root_of_the_repository_is_known() {
    let mut files = Files::new([(".git/config", "[core]\n\tbare = false\n"), ("web/a", "")]);
    files.variables = Some(Vec::new());
    let command = "cd web && cd \"$(git rev-parse --show-toplevel)\" && pnpm ls";
    assert!(!asks(&files, command));
    assert!(!asks(&files, "cd \"$(pwd)/web\" && pnpm ls"));
    files.add(".pnpmfile.cjs", "");
    assert!(asks(&files, command));
    assert!(!asks(&files, "cd $(pwd)/web && pnpm ls"));
    files.add("web/.pnpmfile.cjs", "");
    assert!(asks(&files, "cd $(pwd)/web && pnpm ls"));
    files = Files::new([(".git/config", "[core]\n\tworktree = ../x\n")]);
    files.variables = Some(Vec::new());
    assert!(asks(&files, command), "the settings may name another root");
    assert!(asks(
        &files,
        "git() { echo web; }; cd \"$(git rev-parse --show-toplevel)\" && pnpm ls; pnpm why a; cd $(x); pnpm ls"
    ));
}

#[test]
fn the_home_folder_is_not_part_of_the_project() {
    let mut files = Files::new([("package.json", "{}")]);
    files.add("/srv/u/.yarnrc", "yarn-path \"./y.cjs\"\n");
    assert!(!asks(&files, "yarn why a"));
    files.add("/srv/u/p/.yarnrc", "yarn-path \"./y.cjs\"\n");
    let found = classify(&files, "cd src && yarn why a; cd /srv/u/p && yarn why a");
    assert_eq!(found.crud, Crud::Create);
}

#[test]
fn beyond_the_limits_a_program_that_would_load_a_file_asks() {
    // One file above the limit of bytes.
    let files = Files::new([(".yarnrc", &*"#".repeat((1 << 20) + 1))]);
    let found = classify(&files, "yarn why a");
    assert_eq!(found.crud, Crud::Create, "{}", found.reasoning);
    assert!(found.reasoning.contains(".yarnrc"), "{}", found.reasoning);
    // More names than the limit: each of them may be an option.
    let mut files = Files::default();
    for number in 0..4_097 {
        files.add(&format!("f{number}"), "");
    }
    assert!(asks(&files, "ls *"));
    assert!(!asks(&files, "ls f*"));
    assert!(!asks(&files, "ls ./*"));
    // As many folders as the limit of texts, each with a file of settings.
    let mut files = Files::default();
    let mut command = String::new();
    for number in 0..70 {
        files.add(
            &format!("d{number}/.yarnrc"),
            "registry \"https://x.example\"\n",
        );
        command += &format!("(cd d{number} && yarn why a)\n");
    }
    assert!(asks(&files, &command));
    let texts = |question: &&String| question.starts_with("text ");
    let asked = files
        .questions
        .lock()
        .expect("a lock")
        .iter()
        .filter(texts)
        .count();
    assert!(asked <= 64, "{asked}");
}

#[test]
fn beyond_the_limits_a_repository_is_not_taken_for_none() {
    let files = Files::new([(
        ".git/config",
        "[core]\n\tbare = false\n\tfsmonitor = ./x.sh\n",
    )]);
    assert!(asks(&files, "git status"));
    // Each name is looked up once.
    let mut files = Files::new([(".git/config", "[core]\n\tbare = false\n")]);
    for number in 0..1_100 {
        files.add(&format!("f{number}"), "");
    }
    assert!(!asks(&files, "git status"));
    assert!(asks(&files, "ls f*; git status"));
    files.add(
        ".git/config",
        "[core]\n\tbare = false\n\tfsmonitor = ./x.sh\n",
    );
    assert!(asks(&files, "ls f*; git status"));
}

#[test]
fn a_repository_without_a_working_tree_has_no_root() {
    let mut files = Files::new([
        (".git/config", "[core]\n\tbare = false\n"),
        ("web/HEAD", "ref: refs/heads/main\n"),
        ("web/objects/x", ""),
        ("web/refs/x", ""),
        ("web/config", "[core]\n\tbare = true\n"),
    ]);
    files.variables = Some(Vec::new());
    let command = "cd web && cd \"$(git rev-parse --show-toplevel)\" && pnpm ls";
    assert!(asks(&files, command));
    assert!(!asks(
        &files,
        "cd \"$(git rev-parse --show-toplevel)\" && pnpm ls"
    ));
}

#[test]
fn each_question_is_asked_once() {
    let files = Files::new([(".yarnrc", "registry \"x\"\n"), ("a b", ""), ("-x", "")]);
    // The values of the loop need several rounds.
    let command = "a=1; for b in 1 2; do a=$b$a; yarn why $a; ls *; done; yarn why b";
    classify(&files, command);
    let mut questions = files.questions.lock().expect("a lock").clone();
    assert!(!questions.is_empty());
    let count = questions.len();
    questions.sort();
    questions.dedup();
    assert_eq!(questions.len(), count, "{questions:?}");
}

#[test]
fn settings_that_cannot_be_parsed_ask() {
    let files = Files::new([(".yarnrc.yml", "yarnPath: [\n")]);
    let found = classify(&files, "yarn why a");
    assert_eq!(found.crud, Crud::Create);
    assert!(
        found.reasoning.contains("cannot be parsed"),
        "{}",
        found.reasoning
    );
}

#[test]
fn patterns_are_judged_by_the_names_that_fit() {
    let mut files = Files::new([("a", ""), ("-delete", ""), ("id_rsa", ""), ("sub/-o", "")]);
    assert!(asks(&files, "find . [-]*"));
    assert!(!asks(&files, "find . a*"));
    assert!(asks(&files, "cat i*"));
    assert!(asks(&files, "cat id_rs?"));
    assert!(!asks(&files, "ls *"), "names are listed");
    assert!(!asks(&files, "sort sub/*"), "a path is no option");
    assert!(asks(&files, "cd sub && sort ?o a"));
    assert!(!asks(&files, "cat [b-z]*.txt"), "nothing fits");
    files.add("notes", "-> /srv/u/.ssh/id_ed25519");
    assert!(asks(&files, "cat note*"));
    assert!(!asks(&files, "cat a*"));
}

#[test]
fn printed_variables_ask_if_one_of_them_is_a_secret() {
    let mut files = Files::default();
    assert!(!asks(&files, "env"), "unknown variables: the text decides");
    files.variables = Some(vec![("PATH", "/bin"), ("EMPTY_TOKEN", "")]);
    let commands = [
        "env",
        "printenv",
        "set",
        "export -p",
        "declare -x",
        "env -u X",
        "env A=b",
        "/usr/bin/env",
    ];
    for command in commands {
        assert!(!asks(&files, command), "{command}");
    }
    for (name, value) in [
        ("OPENAI_API_KEY", "x"),
        ("CI_VALUE", "ghp_0A1b2C3d4E0A1b2C3d4E0A1b2C3d4E0A1b2C"),
    ] {
        files.variables = Some(vec![("PATH", "/bin"), (name, value)]);
        for command in commands {
            let found = classify(&files, command);
            assert_eq!(found.decision, Decision::RequiresConfirmation, "{command}");
            assert_eq!(found.crud, Crud::Read, "{command}");
            assert!(found.reasoning.contains(name), "{}", found.reasoning);
            assert!(!found.reasoning.contains("ghp_"), "{}", found.reasoning);
        }
        for command in ["env -i", "env ls", "printenv PATH", "export A=b"] {
            assert!(!asks(&files, command), "{command}");
        }
    }
}

#[test]
fn only_variables_that_pass_the_filters_are_printed() {
    let files = Files {
        variables: Some(vec![
            ("HTTP_PROXY", "http://p:3128"),
            ("NPM_TOKEN", "x"),
            ("A", "b"),
        ]),
        ..Files::default()
    };
    for command in [
        "env | grep -i proxy",
        "env | grep PROXY | sort | head -3",
        "printenv | grep -E '^(HTTP|HTTPS)_PROXY='",
        "env | grep -v TOKEN",
        "env | grep -c .",
        "env | wc -l",
        "export -p | grep -F PROXY",
        "env | sort | grep -e ^A= -e PROXY",
        "(env; ls) | grep proxy",
        "bash -c env | grep PROXY",
        "env | grep PROXY | cut -d= -f2",
    ] {
        assert!(!asks(&files, command), "{command}");
    }
    for command in [
        "env | grep -i npm",
        "env | grep .",
        "env | grep -v PROXY",
        "env | sort",
        "env | cut -d= -f1 | grep PROXY",
        "env | tee all | grep PROXY",
        "env > all | grep PROXY",
        "env >&2 | grep PROXY",
        "{ env >&2; } | grep PROXY",
        "{ env; } 2>&1 > all | grep PROXY",
        "echo $(env) | grep PROXY",
        "env | grep PROXY -C 9",
        "env | grep -9 PROXY",
        "env | grep -f list",
        "env | grep $x",
        "env | grep [P]ROXY",
        "env | grep '[P]ROXY'",
        "env | grep -vw TOKEN",
        "env | xargs echo | grep PROXY",
        "grep() { cat; }; env | grep PROXY",
        "exec > all; env | grep PROXY",
        "env | (grep PROXY; cat)",
    ] {
        assert!(asks(&files, command), "{command}");
    }
}

#[test]
fn a_deeply_nested_command_is_looked_into_as_well() {
    let files = Files::new([(".pnpmfile.cjs", "")]);
    let nested = format!("{}pnpm ls{}", "(".repeat(200), ")".repeat(200));
    assert!(asks(&files, &nested));
}

#[test]
fn scripts_of_the_nearest_package_are_followed() {
    let files = Files::new([
        (
            "package.json",
            r#"{"scripts": {"show": "ls", "loop": "npm run loop", "own": "echo $1"}}"#,
        ),
        (
            "web/package.json",
            r#"{"scripts": {"show": "rm -rf dist"}}"#,
        ),
    ]);
    assert!(!asks(&files, "npm run show"));
    let found = classify(&files, "cd web && npm run show");
    assert_eq!(found.crud, Crud::Delete);
    assert!(
        found.reasoning.contains("rm -rf dist"),
        "{}",
        found.reasoning
    );
    assert!(
        found.reasoning.contains("package.json:1"),
        "{}",
        found.reasoning
    );
    assert!(asks(&files, "npm run loop"), "a script that runs itself");
    assert!(asks(&files, "npm run show -- > out.txt"));
    assert!(asks(&files, "npm run \"$(cat name)\""));
}
