//! Tests `within` and `outside`: rules limited by the directories of a request.

use std::path::Path;

use hooks_guard::PermissionRequest;
use hooks_guard::rules::{Origin, Protected, RuleEffect, Rules, RulesError};

use super::{command, decide, file, user};

const BUILD: &str = "[[rule]]\neffect = 'allow'\nprogram = ['cargo', 'make', 'mkdir', 'unheard']\n";

#[test]
fn within_limits_a_rule_to_the_project_of_the_request() {
    let rules = user(&format!(
        "{BUILD}within = 'project'\nredirections = ['**', '/tmp/**']\n"
    ));
    for (text, allowed) in [
        ("cargo build", true),
        ("cargo build > log", true),
        ("cd sub && cargo build", true),
        ("make -C sub", true),
        ("mkdir -p a/b /srv/u/project/c", true),
        ("cargo build > /tmp/log", false),
        ("cargo build --manifest-path=/srv/u/other/Cargo.toml", false),
        ("cargo build --manifest-path ../other/Cargo.toml", false),
        ("cd .. && cargo build", false),
        ("cd $X && cargo build", false),
        ("make -C ../other", false),
        ("mkdir ../a", false),
        ("mkdir ~/a", false),
        ("mkdir .git/a", false),
        ("cargo build --unheard-of-option x", false),
        ("unheard build", false),
    ] {
        let effect = decide(&rules, &command(text)).0;
        assert_eq!(effect == RuleEffect::Allow, allowed, "{text}");
    }
    for cwd in ["/srv/u", "/srv", "/"] {
        let request = PermissionRequest {
            cwd: Some(cwd.into()),
            ..command("cargo build")
        };
        assert_eq!(decide(&rules, &request).0, RuleEffect::Ask, "{cwd}");
    }
    let arguments = user(&format!(
        "{BUILD}within = 'project'\narguments = ['--*', '[!-]*']\n"
    ));
    let decided = |text| decide(&arguments, &command(text)).0;
    assert_eq!(
        decided("cargo build --unheard-of-option x"),
        RuleEffect::Allow
    );
    assert_eq!(
        decided("cargo build --unheard-of-option ../x"),
        RuleEffect::Ask
    );
}

#[test]
fn within_follows_links_and_finds_the_repository_around_the_directory() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("work/project");
    let other = home.path().join("other");
    for folder in [&project.join(".git"), &project.join("sub"), &other] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let text = format!("{BUILD}within = ['project', '~/shared']\n");
    let places = Protected::new(home.path());
    let rules = Rules::parse(&text, "guard.toml", Origin::User, None, &places).unwrap();
    let allowed = |cwd: &Path, text: &str| {
        let request = PermissionRequest {
            cwd: Some(cwd.to_owned()),
            ..PermissionRequest::new(text)
        };
        decide(&rules, &request).0 == RuleEffect::Allow
    };
    let sub = project.join("sub");
    assert!(allowed(&sub, "mkdir ../a"));
    assert!(!allowed(&sub, "mkdir ../../a"));
    assert!(allowed(&sub, "mkdir ~/shared/a"));
    assert!(allowed(&sub, "cd .. && cargo build"));
    assert!(
        allowed(&other, "mkdir a"),
        "a directory without a repository"
    );
    assert!(!allowed(&other, "mkdir ../a"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&other, project.join("link")).unwrap();
        assert!(!allowed(&project, "mkdir link/a"));
        assert!(!allowed(&project, "cd link && cargo build"));
        assert!(!allowed(&project, "make -C link"));
    }
}

#[test]
fn outside_restricts_files_and_directories_outside_of_the_project() {
    let rules = user(
        "[[rule]]\neffect = 'deny'\nprogram = '*'\noutside = ['project', '/usr/include']\n\
         [[rule]]\neffect = 'ask'\ntool = 'Read'\noutside = 'project'\n",
    );
    for (text, effect) in [
        ("cat src/a.rs", RuleEffect::Allow),
        ("cat /usr/include/stdio.h", RuleEffect::Allow),
        ("cat /etc/hosts", RuleEffect::Deny),
        ("cat ../other/a", RuleEffect::Deny),
        ("cd .. && ls", RuleEffect::Deny),
        ("sh -c 'cat /etc/hosts'", RuleEffect::Deny),
        ("cat \"$X\"", RuleEffect::Ask),
    ] {
        assert_eq!(decide(&rules, &command(text)).0, effect, "{text}");
    }
    for (path, effect) in [
        ("src/a.rs", RuleEffect::Allow),
        ("/srv/u/project/src/a.rs", RuleEffect::Allow),
        ("/usr/include/stdio.h", RuleEffect::Ask),
        ("../other/a", RuleEffect::Ask),
    ] {
        assert_eq!(decide(&rules, &file("Read", path)).0, effect, "{path}");
    }
}

#[test]
fn mistakes_in_directories_are_reported() {
    for (rule, mistake) in [
        (
            "effect = 'deny'\nwithin = 'project'",
            "`within` is valid only in an `allow` rule",
        ),
        (
            "effect = 'allow'\nprogram = 'a'\noutside = 'project'",
            "`outside` is not valid in an `allow` rule",
        ),
        (
            "effect = 'allow'\nprogram = '*'",
            "`*` is not valid in an `allow` rule",
        ),
        (
            "effect = 'ask'\noutside = 'src'",
            "`src` is not a directory",
        ),
        (
            "effect = 'ask'\noutside = '/srv/*'",
            "is a pattern or contains `..`",
        ),
        (
            "effect = 'ask'\noutside = '~/../x'",
            "is a pattern or contains `..`",
        ),
        (
            "effect = 'ask'\nhost = 'a.b'\noutside = 'project'",
            "`outside` to other requests",
        ),
        (
            "effect = 'ask'\nmcp = 'github'",
            "`github` is not a tool of an MCP server",
        ),
        (
            "effect = 'ask'\nmcp = '/create'",
            "`/create` is not a tool of an MCP server",
        ),
        ("effect = 'ask'\nmcp = ['github/[a']", "`[a`"),
        (
            "effect = 'ask'\nmcp = 'a/b'\nhost = 'a.b'",
            "`mcp` applies to tools of MCP servers, `host` to other requests",
        ),
        (
            "effect = 'ask'\nmcp = 'a/b'\nclass = 'READ'",
            "`class` to other requests",
        ),
        (
            "effect = 'allow'\nmcp = '*/get_*'",
            "the server `*` is a pattern, which is not valid in an `allow` rule",
        ),
        (
            "effect = 'allow'\nwithin = 'project'",
            "the rule allows everything",
        ),
    ] {
        let text = format!("[[rule]]\n{rule}\n");
        let parsed = Rules::parse(&text, "guard.toml", Origin::User, None, &super::places());
        let Err(RulesError::Mistakes(mistakes)) = parsed else {
            panic!("no mistake in {rule}");
        };
        let found = mistakes.iter().any(|one| one.what.contains(mistake));
        assert!(found, "{rule}: {mistakes:?}");
    }
}
