//! Tests rules files: mistakes, trust, links, tests and warnings.

use std::fs;
use std::path::Path;

use hooks_guard::rules::{MAX_FILE_BYTES, Origin, Protected, RuleEffect, Rules, RulesError, Trust};

use super::{command, decide, file, found, places, project, user};

fn mistakes(text: &str) -> Vec<String> {
    match Rules::parse(text, "guard.toml", Origin::User, None, &places()) {
        Err(RulesError::Mistakes(all)) => all.iter().map(ToString::to_string).collect(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_mistake_has_its_position_and_remedy() {
    let text = "\
[[rule]]
effect = \"alow\"
programm = \"x\"

[[rule]]
program = \"x y\"
effect = \"deny\"
environment = [\"A\"]

[[rules]]
";
    let all = mistakes(text);
    let starts: Vec<&str> = all
        .iter()
        .map(|one| one.split(' ').next().unwrap_or(""))
        .collect();
    assert_eq!(
        starts,
        [
            "guard.toml:2:10:",
            "guard.toml:3:1:",
            "guard.toml:6:11:",
            "guard.toml:8:1:",
            "guard.toml:10:3:"
        ],
        "{all:#?}"
    );
    assert!(
        all[0].contains("`effect` is `alow`; write \"allow\""),
        "{}",
        all[0]
    );
    assert!(all[1].ends_with("did you mean `program`?"), "{}", all[1]);
    assert!(all[4].ends_with("did you mean `rule`?"), "{}", all[4]);
}

#[test]
fn meaningless_rules_are_mistakes() {
    for (text, what) in [
        ("x", "invalid TOML"),
        ("[[rule]]\nprogram = \"x\"", "no `effect`"),
        ("[[rule]]\neffect = 1", "`effect` is not a string"),
        ("[[rule]]\neffect = \"allow\"", "allows everything"),
        (
            "[[rule]]\neffect = \"allow\"\nagent = \"x\"",
            "allows everything",
        ),
        ("[[rule]]\neffect = \"allow\"\nprogram = []", "empty list"),
        (
            "[[rule]]\neffect = \"ask\"\nprogram = \"x\"\narguments = []",
            "empty list",
        ),
        ("[[rule]]\neffect = \"allow\"\nprogram = \"\"", "is empty"),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"c*\"",
            "is a pattern",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"{a,b}\"",
            "is a pattern",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"bin/*\"",
            "is a pattern",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"bin/{a,b\"",
            "is a pattern",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"{a,b,c,d,e}/{a,b,c,d,e}/{a,b,c,d,e}\"",
            "`program` has 101 values",
        ),
        (
            "[[rule]]\neffect = \"deny\"\nprogram = \"a\"\nexcept = \"b\"",
            "`except` is valid only in an `allow` rule",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"a\"\nsubcommand = \"-c b\"",
            "contains an option",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"a\"\nsubcommand = \"-m\"",
            "contains an option",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = [1]",
            "is not a string",
        ),
        (
            "[[rule]]\neffect = \"deny\"\nsubcommand = \"x\"",
            "no `program`",
        ),
        (
            "[[rule]]\neffect = \"deny\"\nprogram = \"x\"\nsubcommand = \"-x\"",
            "contains an option",
        ),
        (
            "[[rule]]\neffect = \"deny\"\npath = \"../x\"",
            "contains `..`",
        ),
        (
            "[[rule]]\neffect = \"deny\"\npath = \"~ada/x\"",
            "another user's home",
        ),
        (
            "[[rule]]\neffect = \"deny\"\npath = \"a[\"",
            "is not a valid pattern",
        ),
        (
            "[[rule]]\neffect = \"deny\"\nclass = \"WRITE\"",
            "is not a class",
        ),
        (
            "[[rule]]\neffect = \"deny\"\ntool = \"Write\"\nprogram = \"x\"",
            "`tool` to other tools",
        ),
        (
            "[[rule]]\neffect = \"ask\"\nprogram = \"x\"\nsubstitutions = true",
            "valid only in an `allow` rule",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"x\"\nsubstitutions = \"yes\"",
            "is not a boolean",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"x\"\nreason = \"\\u001b[2J\"",
            "control characters",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"x\"\n[[rule.test]]\ncommand = \"x\"",
            "no `expect`",
        ),
        (
            "[[rule]]\neffect = \"allow\"\nprogram = \"x\"\n[[rule.test]]\nexpect = \"ask\"",
            "has no command",
        ),
        ("rule = 1", "is not a list"),
    ] {
        let all = mistakes(text);
        assert!(all.iter().any(|one| one.contains(what)), "{text}: {all:?}");
    }
}

#[test]
fn oversized_rules_files_are_refused() {
    let long = "a".repeat(600);
    let text = format!("[[rule]]\neffect = \"deny\"\npath = \"{long}\"");
    assert!(mistakes(&text)[0].contains("600 characters"));
    let many = "\"a\", ".repeat(101);
    let text = format!("[[rule]]\neffect = \"deny\"\nprogram = [{many}]");
    assert!(mistakes(&text)[0].contains("101 values"));
    let rules = "[[rule]]\neffect = \"ask\"\n".repeat(1001);
    assert!(mistakes(&rules)[0].contains("(1001)"));
    let text = " ".repeat(MAX_FILE_BYTES + 1);
    let error = Rules::parse(&text, "guard.toml", Origin::User, None, &places());
    assert!(matches!(error, Err(RulesError::TooLong { .. })));
    let nested = format!(
        "[[rule]]\neffect = \"deny\"\npath = \"{}\"",
        "{a,".repeat(160)
    );
    assert!(!mistakes(&nested).is_empty());
}

const NPM: &str = "[[rule]]\neffect = \"allow\"\nprogram = \"npm\"\n\n[[rule]]\neffect = \"deny\"\nprogram = \"curl\"\n";

#[test]
fn a_project_file_allows_only_while_its_content_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("its real path");
    let rules_file = root.join("guard.toml");
    fs::write(&rules_file, NPM).expect("the file is written");
    let list = root.join("config/trust.json");
    let load = || {
        let trust = Trust::load(&list).expect("the list is read");
        Rules::load(None, Some(&rules_file), &trust, &places()).expect("the rules are right")
    };
    let mut request = command("npm test");
    request.cwd = Some(root.clone());
    let mut denied = command("curl https://example.com");
    denied.cwd = Some(root.clone());

    assert_eq!(decide(&load(), &request).0, RuleEffect::Ask);
    assert_eq!(decide(&load(), &denied).0, RuleEffect::Deny);
    assert!(load().untrusted());

    let mut trust = Trust::empty();
    trust.add(&rules_file).expect("the file is there");
    trust.save(&list).expect("the list is written");
    assert_eq!(decide(&load(), &request).0, RuleEffect::Allow);
    assert!(!load().untrusted());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&list)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    fs::write(&rules_file, format!("{NPM}# changed\n")).expect("the file is written");
    assert_eq!(decide(&load(), &request).0, RuleEffect::Ask);
    assert_eq!(decide(&load(), &denied).0, RuleEffect::Deny);

    trust.add(&rules_file).expect("the file is there");
    assert!(trust.remove(&rules_file));
    assert!(!trust.remove(&rules_file));
    trust.save(&list).expect("the list is written");
    assert_eq!(decide(&load(), &request).0, RuleEffect::Ask);
}

#[test]
fn an_invalid_list_of_trusted_files_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("trust.json");
    assert_eq!(Trust::load(&list).expect("there is none"), Trust::empty());
    fs::write(&list, "{}").expect("the file is written");
    let error = Trust::load(&list)
        .expect_err("it is not a list")
        .to_string();
    assert!(error.contains("trust the files again"), "{error}");
}

#[test]
fn loading_reports_the_mistakes_of_both_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (
        folder.path().join("guard.toml"),
        folder.path().join("project.toml"),
    );
    fs::write(&one, "[[rule]]\n").expect("the file is written");
    fs::write(&other, "[[rule]]\n").expect("the file is written");
    let load = |user: &Path, project: &Path| {
        Rules::load(Some(user), Some(project), &Trust::empty(), &places())
    };
    match load(&one, &other) {
        Err(RulesError::Mistakes(all)) => {
            let files: Vec<&Path> = all.iter().map(|one| Path::new(&one.file)).collect();
            assert_eq!(files, [one.as_path(), other.as_path()]);
        }
        other => panic!("{other:?}"),
    }
    fs::write(&one, [0xff, 0xfe]).expect("the file is written");
    assert!(matches!(
        load(&one, &other),
        Err(RulesError::Encoding { .. })
    ));
    let none = folder.path().join("none");
    assert!(load(&none, &none).expect("no files, no rules").is_empty());
    assert!(matches!(
        load(folder.path(), &none),
        Err(RulesError::Read { .. })
    ));
}

/// A project with a link that leads out of it, and one that leads to a protected file.
#[cfg(unix)]
#[test]
fn paths_of_rules_are_matched_after_resolving_links() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("its real path");
    let (home, project) = (root.join("home"), root.join("home/project"));
    fs::create_dir_all(project.join("target/real")).expect("the folders are made");
    fs::create_dir_all(home.join("notes")).expect("the folders are made");
    fs::write(home.join(".bashrc"), "").expect("the file is written");
    symlink(home.join("notes"), project.join("target/out")).expect("the link is made");
    symlink(home.join(".bashrc"), project.join("target/shell")).expect("the link is made");
    symlink(home.join(".zshrc"), project.join("target/dangling")).expect("the link is made");

    let places = Protected::new(&home);
    let text = "[[rule]]\neffect = \"allow\"\nprogram = \"touch\"\npath = \"target/**\"\n";
    let rules = Rules::parse(text, "guard.toml", Origin::User, None, &places).expect("right");
    let ask = |text: &str| {
        let mut request = command(text);
        request.cwd = Some(project.clone());
        decide(&rules, &request)
    };
    assert_eq!(ask("touch target/x").0, RuleEffect::Allow);
    assert_eq!(ask("touch target/real/x").0, RuleEffect::Allow);
    assert_eq!(ask("touch target/out/x").0, RuleEffect::Ask);
    for name in ["target/shell", "target/dangling"] {
        let (effect, rule_decision) = ask(&format!("touch {name}"));
        assert_eq!(effect, RuleEffect::Ask);
        assert_eq!(
            rule_decision.expect("the file is protected").rule,
            "built in: shell start files"
        );
    }

    let deny = "[[rule]]\neffect = \"deny\"\npath = \"~/notes/**\"\n";
    let rules = Rules::parse(deny, "guard.toml", Origin::User, None, &places).expect("right");
    let mut request = command("cat target/out/x");
    request.cwd = Some(project.clone());
    assert_eq!(decide(&rules, &request).0, RuleEffect::Deny);
}

/// Like `rm -r` of the directory.
#[test]
fn deleting_a_folder_asks_if_it_contains_protected_files() {
    let rules =
        user("[[rule]]\neffect = \"allow\"\ntool = [\"Delete\", \"Edit\"]\npath = \"/**\"\n");
    for (path, rule) in [
        ("/srv/u/.config", "built in: the guard's files"),
        ("/srv/u", "built in: shell start files"),
    ] {
        let (effect, rule_decision) = decide(&rules, &file("Delete", path));
        assert_eq!(effect, RuleEffect::Ask, "{path}");
        assert_eq!(
            rule_decision.expect("the file is protected").rule,
            rule,
            "{path}"
        );
    }
    for request in [
        file("Delete", "/srv/u/project/x"),
        file("Edit", "/srv/u/.config"),
    ] {
        assert_eq!(decide(&rules, &request).0, RuleEffect::Allow);
    }
}

#[test]
fn tests_in_a_rules_file_are_run() {
    let rules = user(
        r#"
[[rule]]
effect = "allow"
program = "cargo"
subcommand = "test"
[[rule.test]]
command = "cargo test --workspace"
expect = "allow"
[[rule.test]]
command = "cargo test > log"
expect = "allow"

[[rule]]
effect = "deny"
tool = "Write"
path = "x/**"
[[rule.test]]
tool = "Write"
path = "x/y"
expect = "deny"
"#,
    );
    let outcomes = rules.test();
    let passed: Vec<bool> = outcomes.iter().map(|outcome| outcome.passed()).collect();
    assert_eq!(passed, [true, false, true]);
    assert_eq!(outcomes[0].decided_by.as_deref(), Some("guard.toml:2"));
    assert_eq!(outcomes[1].got, RuleEffect::Ask);
    assert!(
        outcomes[1].why.contains("redirection"),
        "{}",
        outcomes[1].why
    );
    assert_eq!(
        (outcomes[1].rule.as_str(), outcomes[1].line),
        ("guard.toml:2", 9)
    );
}

fn warnings(rules: &Rules) -> Vec<String> {
    rules.warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn tests_and_warnings_know_tools_of_mcp_servers() {
    let text = r#"
[[rule]]
effect = "allow"
mcp = ["github/get_*", "github/delete_draft"]

[[rule.test]]
mcp = "github/get_issue"
expect = "allow"

[[rule.test]]
mcp = "github/create_issue"
expect = "ask"

[[rule]]
effect = "deny"
mcp = "*/delete_*"

[[rule.test]]
mcp = "github/delete_draft"
expect = "deny"

[[rule]]
effect = "ask"
mcp = "old/delete_*"

[[rule.test]]
mcp = "old/delete_all"
expect = "deny"

[[rule]]
effect = "allow"
mcp = "other/*"
"#;
    let rules = user(text);
    let outcomes = rules.test();
    assert_eq!(outcomes.len(), 4);
    for outcome in &outcomes {
        assert!(outcome.passed(), "{outcome:?}");
    }
    assert_eq!(outcomes[0].command, "MCP tool github/get_issue");
    assert!(
        outcomes[1]
            .why
            .contains("no rule allows the MCP tool `github/create_issue`")
    );
    let warnings = warnings(&rules);
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    assert!(
        warnings[0].contains("guard.toml:22: `guard.toml:14` is stricter and always applies"),
        "{warnings:#?}"
    );
    assert!(
        warnings[1].contains("rule decides none of its tests"),
        "{warnings:#?}"
    );
    assert!(
        warnings[2].contains("guard.toml:30: rule has no test"),
        "{warnings:#?}"
    );
}

#[test]
fn tests_of_a_project_file_assume_that_it_is_trusted() {
    let text = "[[rule]]\neffect = \"allow\"\nprogram = \"npm\"\n[[rule.test]]\ncommand = \"npm test\"\nexpect = \"allow\"\n";
    assert!(
        project(text, false)
            .test()
            .iter()
            .all(|outcome| outcome.passed())
    );
}

#[test]
fn probable_mistakes_are_warnings() {
    let rules = user(
        r#"
[[rule]]
effect = "allow"
program = "make"

[[rule]]
effect = "deny"
program = ["make", "ninja"]
[[rule.test]]
command = "make"
expect = "deny"

[[rule]]
effect = "allow"
program = "touch"
[[rule.test]]
command = "ls"
expect = "allow"

[[rule]]
effect = "allow"
program = "hooks-guard"
"#,
    );
    let all = warnings(&rules);
    let has = |rule: &str, what: &str| {
        all.iter()
            .any(|one| one.starts_with(&format!("guard.toml:{rule}:")) && one.contains(what))
    };
    assert!(has("2", "`guard.toml:6` is stricter"), "{all:#?}");
    assert!(has("2", "no test"), "{all:#?}");
    assert!(has("13", "none of its tests"), "{all:#?}");
    assert!(has("20", "always need confirmation"), "{all:#?}");
    assert!(
        !all.iter().any(|one| one.starts_with("guard.toml:6:")),
        "{all:#?}"
    );
}

#[test]
fn an_allow_rule_does_not_decide_a_request_that_is_already_allowed() {
    let rules = user("[[rule]]\neffect = \"allow\"\nprogram = \"ls\"\n");
    let request = command("ls");
    assert_eq!(rules.decide(&request, &found(&request)), None);
    let request = file("Read", "x");
    assert_eq!(rules.decide(&request, &found(&request)), None);
}

#[test]
fn a_rule_decides_about_a_tool_of_the_agent_by_its_name() {
    let text = r#"
[[rule]]
effect = "allow"
tool = ["CronCreate", "delegate", "later_tool"]

[[rule.test]]
tool = "croncreate"
expect = "allow"

[[rule.test]]
tool = "delegate"
agent = "goose"
expect = "allow"

[[rule.test]]
tool = "RemoteTrigger"
expect = "ask"

# The guard does not know what it does.
[[rule.test]]
tool = "later_tool"
expect = "ask"

[[rule]]
effect = "deny"
tool = ["WebFetch", "Workflow", "other_tool"]
agent = "claude-code"

[[rule.test]]
tool = "WebFetch"
agent = "claude-code"
expect = "deny"

[[rule.test]]
tool = "Workflow"
agent = "letta-code"
expect = "ask"

[[rule.test]]
tool = "other_tool"
agent = "claude-code"
expect = "deny"

[[rule]]
effect = "allow"
tool = "Workflow"
path = "src/**"

[[rule.test]]
tool = "Workflow"
agent = "letta-code"
expect = "ask"
"#;
    let rules = user(text);
    let outcomes = rules.test();
    assert_eq!(outcomes.len(), 8);
    for outcome in &outcomes {
        assert!(outcome.passed(), "{outcome:?}");
    }
    let why = |at: usize| outcomes[at].why.as_str();
    assert_eq!(why(2), "no rule allows the tool `RemoteTrigger`");
    assert_eq!(why(3), "no rule can allow the unknown tool `later_tool`");
}

#[test]
fn a_rule_without_a_tool_applies_to_tools_of_the_agent_as_to_other_requests() {
    let text = r#"
[[rule]]
effect = "deny"
agent = "goose"

[[rule.test]]
tool = "delegate"
agent = "goose"
expect = "deny"

[[rule.test]]
tool = "CronCreate"
agent = "claude-code"
expect = "ask"

[[rule]]
effect = "allow"
program = "cargo"

[[rule.test]]
tool = "CronCreate"
agent = "claude-code"
expect = "ask"
"#;
    for outcome in user(text).test() {
        assert!(outcome.passed(), "{outcome:?}");
    }
}
