//! Tests `within` and `outside`: rules limited by the directories of a request.

use std::path::Path;

use hooks_guard::PermissionRequest;
use hooks_guard::rules::{Origin, Preset, Protected, RuleEffect, Rules, RulesError};

use super::{command, decide, file, user};
use crate::repository::make_repository;

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
    for folder in [&project.join("sub"), &other] {
        std::fs::create_dir_all(folder).unwrap();
    }
    make_repository(&project);
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

/// Sandboxes leave empty folders of these names behind if they are killed.
const LEFTOVERS: [&str; 3] = [".git", ".codex", ".agents"];

/// Returns whether an edit of a file in the project is allowed by a rule for the project.
fn allows(home: &Path, cwd: &Path, text: &str) -> bool {
    let rule = format!("{BUILD}within = 'project'\n");
    let places = Protected::new(home);
    let rules = Rules::parse(&rule, "guard.toml", Origin::User, None, &places).unwrap();
    let request = PermissionRequest {
        cwd: Some(cwd.to_owned()),
        ..PermissionRequest::new(text)
    };
    decide(&rules, &request).0 == RuleEffect::Allow
}

#[test]
fn folders_named_git_without_a_repository_are_no_project() {
    let home = tempfile::tempdir().unwrap();
    let outer = home.path().join("outer");
    let project = outer.join("project");
    let sub = project.join("sub");
    std::fs::create_dir_all(&sub).unwrap();
    make_repository(&project);
    for name in LEFTOVERS {
        for folder in [&outer, &sub, &home.path().to_owned()] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
    }
    let allows = |cwd: &Path, text: &str| allows(home.path(), cwd, text);
    // The leftovers neither widen the project nor hide it.
    assert!(allows(&sub, "mkdir ../a"));
    assert!(!allows(&sub, "mkdir ../../a"));
    assert!(allows(&outer, "mkdir a"));
    let own = outer.join("own");
    std::fs::create_dir(&own).unwrap();
    assert!(allows(&own, "mkdir a"));
    assert!(!allows(&own, "mkdir ../a"));
    // Part of a repository, and files that lead nowhere.
    let git = outer.join(".git");
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(!allows(&own, "mkdir ../a"));
    std::fs::remove_dir_all(&git).unwrap();
    for text in ["gitdir: ../no/such\n", "gitdir: project\n", ""] {
        std::fs::write(&git, text).unwrap();
        assert!(!allows(&own, "mkdir ../a"), "{text:?}");
    }
    // A linked work tree, as in a submodule.
    std::fs::write(&git, "gitdir: project/.git\n").unwrap();
    assert!(allows(&own, "mkdir ../a"));
    assert!(!allows(&own, "mkdir ../../a"));
}

#[test]
#[cfg(unix)]
fn folders_of_several_users_are_a_project_only_as_a_repository_of_this_user() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let home = tempfile::tempdir().unwrap();
    let shared = home.path().join("shared");
    let own = shared.join("own");
    std::fs::create_dir_all(&own).unwrap();
    let allows = |cwd: &Path, text: &str| allows(home.path(), cwd, text);
    let rules = shared.join(".hooks-guard.toml");
    for mode in [0o755, 0o777, 0o1777] {
        let is_private = mode == 0o755;
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(allows(&shared, "mkdir a"), is_private, "{mode:o}");
        assert!(allows(&own, "mkdir a"), "{mode:o}");
        assert!(!allows(&own, "mkdir ../a"), "{mode:o}");
        std::fs::write(&rules, "").unwrap();
        assert_eq!(allows(&own, "mkdir ../a"), is_private, "{mode:o}");
        std::fs::remove_file(&rules).unwrap();
        make_repository(&shared);
        assert!(allows(&own, "mkdir ../a"), "{mode:o}");
        // Only root can change the owner.
        if chown(&shared, Some(4711), None).is_ok() {
            assert!(!allows(&own, "mkdir ../a"), "{mode:o}");
            assert!(!allows(&shared, "mkdir a"), "{mode:o}");
            let user = std::fs::metadata(&own).unwrap();
            let user = std::os::unix::fs::MetadataExt::uid(&user);
            chown(&shared, Some(user), None).unwrap();
        }
        std::fs::remove_dir_all(shared.join(".git")).unwrap();
    }
}

#[test]
fn writes_that_make_or_move_a_root_are_not_within_the_project() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("sub")).unwrap();
    make_repository(&project);
    for text in [
        "mkdir .git",
        "mkdir -p sub/.git/refs",
        "mkdir sub/.GIT",
        "mkdir ../.git",
    ] {
        assert!(!allows(home.path(), &project, text), "{text}");
    }
    assert!(allows(home.path(), &project, "mkdir sub/git"));
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
        (
            "effect = 'allow'\ntool = ['Write', 'WebFetch']",
            "no rule can allow the tool `WebFetch`",
        ),
        (
            "effect = 'deny'\ntool = 'TodoWrite'",
            "the guard leaves the tool `TodoWrite` to the agent",
        ),
        (
            "effect = 'ask'\ntool = 'Write'\n[[rule.test]]\ntool = 'Write'\nexpect = 'ask'",
            "the test has a `tool` but no `path`",
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

#[test]
fn a_pattern_of_paths_in_arguments_is_compared_from_the_directory_of_the_rule() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    for folder in ["tools", "tests", "other/tools", "sub"] {
        std::fs::create_dir_all(project.join(folder)).unwrap();
    }
    std::os::unix::fs::symlink("../sub/evil.py", project.join("tools/link.py")).unwrap();
    std::fs::write(project.join("sub/evil.py"), "").unwrap();
    make_repository(&project);
    let text = "[[rule]]\neffect = 'allow'\nprogram = 'python3'\n\
                arguments = ['tools/*.py', '--out=build/*', '~/bin/*.py', '/opt/x/*.py', 'tests/*', '-v']\n";
    let places = Protected::new(home.path());
    let trusted = Origin::Project { trusted: true };
    let rules = Rules::parse(text, "project.toml", trusted, Some(&project), &places).unwrap();
    let allowed = |cwd: &Path, text: &str| {
        let request = PermissionRequest {
            cwd: Some(cwd.to_owned()),
            ..PermissionRequest::new(text)
        };
        decide(&rules, &request).0 == RuleEffect::Allow
    };
    for (text, expected) in [
        ("python3 tools/a.py", true),
        ("python3 ./tools/a.py", true),
        ("python3 tools/./sub/../a.py -v", true),
        ("python3 tools/a.py --out=build/x", true),
        ("python3 tests/", true),
        ("python3 /opt/x/a.py", true),
        ("python3 ~/bin/a.py", true),
        ("python3 tools/../evil.py", false),
        ("python3 tools/../../evil.py", false),
        ("python3 tools/link.py", false),
        ("python3 tools/a.py --out=build/../../x", false),
        ("python3 tests/../evil.py", false),
        ("python3 /opt/x/../y/a.py", false),
        ("python3 ~/bin/../evil.py", false),
        ("python3 ~ada/bin/a.py", false),
        ("cd other && python3 tools/a.py", false),
        ("cd $X && python3 tools/a.py", false),
    ] {
        assert_eq!(allowed(&project, text), expected, "{text}");
    }
    assert!(!allowed(&project.join("other"), "python3 tools/a.py"));
    assert!(allowed(&project.join("other"), "python3 ../tools/a.py"));
}

#[test]
fn a_denial_by_path_applies_to_paths_in_revisions_of_git() {
    let text = "[[rule]]\neffect = 'deny'\npath = 'secret/**'\n";
    let rules = user(text);
    for (text, denied) in [
        ("git show HEAD:secret/a", true),
        ("git show HEAD:./secret/a", true),
        ("git show main~3:secret/deep/a", true),
        ("git show :secret/a", true),
        ("git cat-file -p HEAD:secret/a", true),
        ("git diff HEAD~1:secret/a HEAD:secret/a", true),
        ("git log -p -- ':(icase)secret/a'", true),
        ("git log -p -- :/secret/a", true),
        ("cd src && git show HEAD:secret/a", true),
        ("cd src && git grep x HEAD:../secret/a", true),
        ("git show HEAD:src/a", false),
        ("git show HEAD", false),
        ("git ls-remote https://example.com/secret/a", false),
        ("cat src/a", false),
    ] {
        let effect = decide(&rules, &command(text)).0;
        assert_eq!(effect == RuleEffect::Deny, denied, "{text}: {effect}");
    }
}

/// A file that has both names is what a file system shows that folds the case of letters.
#[test]
fn a_denial_by_path_ignores_letter_case_where_the_file_system_does() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("keys")).unwrap();
    make_repository(&project);
    std::fs::write(project.join("keys/prod.txt"), "").unwrap();
    std::fs::hard_link(project.join("keys/prod.txt"), project.join("keys/PROD.TXT")).unwrap();
    std::fs::write(project.join("keys/other.txt"), "").unwrap();
    let text = "[[rule]]\neffect = 'deny'\npath = ['keys/prod.txt', 'keys/OTHER.txt']\n";
    let places = Protected::new(home.path());
    let rules = Rules::parse(text, "guard.toml", Origin::User, None, &places).unwrap();
    for (text, denied) in [
        ("cat keys/prod.txt", true),
        ("cat keys/PROD.TXT", true),
        ("cat keys/OTHER.txt", true),
        // Another file on a file system that does not fold.
        (
            "cat keys/other.txt",
            cfg!(any(target_os = "macos", windows)),
        ),
    ] {
        let request = PermissionRequest {
            cwd: Some(project.clone()),
            ..PermissionRequest::new(text)
        };
        let effect = decide(&rules, &request).0;
        assert_eq!(effect == RuleEffect::Deny, denied, "{text}: {effect}");
    }
}

/// Returns a home with a project, and the decision of a preset on a command in a folder of the
/// project.
fn project_with_preset(preset: Preset) -> (tempfile::TempDir, impl Fn(&str, &str) -> RuleEffect) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("work/project");
    std::fs::create_dir_all(project.join("packages/web")).unwrap();
    make_repository(&project);
    let text = Preset::put(Some(preset), "").unwrap();
    let places = Protected::new(home.path());
    let rules = Rules::parse(&text, "guard.toml", Origin::User, None, &places).unwrap();
    let decision = move |folder: &str, text: &str| {
        let request = PermissionRequest {
            cwd: Some(project.join(folder)),
            ..PermissionRequest::new(text)
        };
        decide(&rules, &request).0
    };
    (home, decision)
}

fn install_program(home: &Path, path: &str) {
    let path = home.join("work/project").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

#[test]
fn a_package_is_run_within_the_project_only_if_it_is_installed_there() {
    let (home, decision) = project_with_preset(Preset::Development);
    let commands = [
        "npx tsc --noEmit",
        "npx eslint src",
        "npx --yes prettier --check .",
        "bunx vitest run",
        "NODE_ENV=test npx jest src/a.test.ts",
        "timeout 60 npx tsc --noEmit",
        "npm exec tsc",
        "npm exec -- eslint src",
    ];
    for folder in ["", "packages/web"] {
        for text in commands {
            assert_eq!(decision(folder, text), RuleEffect::Ask, "{text}");
        }
    }
    for name in ["tsc", "eslint", "prettier", "vitest", "jest", "unheard"] {
        install_program(home.path(), &format!("node_modules/.bin/{name}"));
    }
    for folder in ["", "packages/web"] {
        for text in commands {
            assert_eq!(
                decision(folder, text),
                RuleEffect::Allow,
                "{folder}: {text}"
            );
        }
    }
    for text in [
        "npx tsc@latest --noEmit",
        "npx --package=typescript tsc",
        "npx -p typescript tsc",
        "npx unheard",
        "npx cowsay",
        "npx rm -r src",
        "npx tsc -p ../other",
        "npx eslint --rulesdir rules src",
        "npx -c 'tsc && rm -r src'",
        "npx --script-shell=./a -c tsc",
        "npx tsc > ../log",
        "cd .. && npx tsc --noEmit",
        "pnpm dlx vitest",
        "yarn dlx vitest",
        "npm exec --package=typescript tsc",
    ] {
        assert_eq!(decision("", text), RuleEffect::Ask, "{text}");
    }
}

#[test]
fn a_package_that_is_installed_outside_of_the_project_is_not_installed() {
    let (home, decision) = project_with_preset(Preset::Development);
    let outside = home.path().join("work/node_modules/.bin");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("tsc"), "").unwrap();
    assert_eq!(decision("", "npx tsc --noEmit"), RuleEffect::Ask);
}

#[test]
fn within_does_not_cover_a_download_whatever_else_the_rule_allows() {
    for (program, text) in [
        ("npx", "npx cowsay"),
        ("pnpm", "pnpm dlx cowsay"),
        ("uv", "uv tool run cowsay"),
        ("uv", "uv run --with cowsay python a.py"),
        ("npm", "npm create vite"),
        ("dotnet", "dotnet tool exec cowsay"),
    ] {
        let rule = format!(
            "[[rule]]\neffect = 'allow'\nprogram = ['{program}', 'cowsay', 'python']\n\
             arguments = '*'\n"
        );
        assert_eq!(
            decide(&user(&rule), &command(text)).0,
            RuleEffect::Allow,
            "{text}"
        );
        let rules = user(&format!("{rule}within = 'project'\n"));
        let (effect, _) = decide(&rules, &command(text));
        assert_eq!(effect, RuleEffect::Ask, "{text}");
    }
}
