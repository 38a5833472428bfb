//! Tests the keys of the tables that select calls: calls that change something outside of the
//! project, install or run packages, place links, control processes or settings, or set variables.

use hooks_classify::ControlTarget::{
    AllProcesses, Git, InspectedProcesses, LoginShell, Parsing, ProcessIds, ProcessNames,
    ProcessPatterns, Programs, Schedule, Services, Ssh,
};
use hooks_classify::DiscardedData::{
    AllStashes, Branches, Changes, ChangesOfOperands, Ignored, OnlyIgnored, Stash, Untracked,
    UntrackedFolders,
};
use hooks_classify::{Classifier, ControlTarget, DiscardedData, Part, Tables};

/// Returns `true` if `selects` selects a part of the command.
fn any_part(command: &str, selects: impl Fn(&Part) -> bool) -> bool {
    let parts = Classifier::new().analyze(command).expect("a command").parts;
    parts.all.iter().any(selects)
}

fn works_outside(command: &str) -> bool {
    any_part(command, |part| Tables::embedded().works_outside(part))
}

fn installs(command: &str) -> bool {
    any_part(command, |part| Tables::embedded().installs_packages(part))
}

fn runs_packages(command: &str) -> bool {
    any_part(command, |part| Tables::embedded().runs_packages(part))
}

/// Returns the packages that a command runs, each with the folder of installed programs.
fn packages(command: &str) -> Vec<(Option<String>, Option<&'static str>)> {
    let analysis = Classifier::new().analyze(command).expect("a command");
    let mut found = Vec::new();
    for part in &analysis.parts.all {
        for run in Tables::embedded().packages_run_by(part) {
            let package = run.package.map(str::to_owned);
            if !found.contains(&(package.clone(), run.installed_in)) {
                found.push((package, run.installed_in));
            }
        }
    }
    found
}

#[test]
fn a_command_works_outside_of_the_project() {
    for command in [
        "git push",
        "git -C sub push origin main",
        "git lfs push origin main",
        "git svn dcommit",
        "gh pr create",
        "cargo install ripgrep",
        "cargo +nightly install ripgrep",
        "cargo binstall ripgrep",
        "npm publish",
        "npm link",
        "npm config set registry https://registry.example.org",
        "go env -w GOFLAGS=-mod=mod",
        "gem push a.gem",
        "uv tool install ruff",
        "docker login",
        "docker image push a",
        "docker compose push",
        "docker buildx build . && docker push a",
        "kubectl apply -f a.yaml",
        "oc apply -f a.yaml",
        "tofu apply",
        "aws s3 rm s3://bucket/a",
        "ssh ada@build.example.org make",
        "scp a build.example.org:b",
        "sudo rm a",
        "pkexec rm a",
        "systemctl restart nginx",
        "useradd ada",
        "hostnamectl set-hostname a",
        "brew install jq",
        "apt-get install jq",
        "bash -c 'git push'",
        "cat list | xargs git push",
    ] {
        assert!(works_outside(command), "{command}");
    }
}

#[test]
fn a_command_that_only_reads_or_changes_the_project_does_not_work_outside_of_it() {
    for command in [
        "git status",
        "git commit -m push",
        "git push --help",
        "git stash push",
        "docker build .",
        "docker images",
        "cargo build",
        "cargo test install",
        "npm ci",
        "npm run publish-docs",
        "npm config get registry",
        "go build ./...",
        "kubectl get pods",
        "aws s3 ls",
        "gh pr view",
        "sudo -l",
        "sudo ls",
        "systemctl status nginx",
        "apt list",
        "fakeroot make",
        "mkdir out",
    ] {
        assert!(!works_outside(command), "{command}");
    }
}

#[test]
fn an_option_selects_a_call_in_every_spelling() {
    for command in [
        "npm install -g typescript",
        "npm i typescript --global",
        "npm i --location=global typescript",
        "npm i --location global typescript",
        "pnpm add -g typescript",
        "bun add -g typescript",
        "pip install --user x",
        "python3 -m pip install --user x",
        "dotnet tool install -g x",
        "cmake --install build",
        "wget --post-data a=b https://example.org",
    ] {
        assert!(works_outside(command), "{command}");
    }
    for command in [
        "npm install typescript",
        "npm i --location=project typescript",
        "pip install x",
        "cmake --build build",
        "wget https://example.org/a",
    ] {
        assert!(!works_outside(command), "{command}");
    }
}

#[test]
fn a_change_of_another_machine_is_outside() {
    for command in [
        "curl -X POST https://example.org -d a=b",
        "curl --json '{}' https://example.org",
        "http POST https://example.org a=b",
        "rsync -a . build.example.org:/srv",
        "rsync -a build.example.org:/srv .",
        "psql -h db.example.org -c 'delete from t'",
        "redis-cli -h cache.example.org set a b",
        "mysql -h db.example.org -e 'drop table t'",
        "pg_restore -h db.example.org a.dump",
    ] {
        assert!(works_outside(command), "{command}");
    }
    for command in [
        "curl https://example.org",
        "curl -o a https://example.org/a",
        "curl -X POST http://localhost:3000 -d a=b",
        "http POST http://localhost:3000 a=b",
        "rsync -a a/ b/",
        "psql -c 'delete from t'",
        "psql -h localhost -c 'delete from t'",
    ] {
        assert!(!works_outside(command), "{command}");
    }
    // Without the parser, the text may be a change.
    let reads = "psql -h db.example.org -c 'select 1'";
    assert_eq!(works_outside(reads), cfg!(not(feature = "sql")));
}

#[test]
fn a_program_that_is_called_by_its_path_counts() {
    assert!(works_outside("/opt/git/bin/git push"));
    assert!(works_outside("./node_modules/.bin/npm publish"));
    assert!(installs("/opt/node/bin/npm install"));
    assert!(runs_packages("/opt/node/bin/npx cowsay"));
    assert!(!works_outside("/opt/git/bin/git add a"));
}

#[test]
fn a_command_installs_packages() {
    for command in [
        "npm ci",
        "npm i left-pad",
        "npm isntall",
        "yarn",
        "yarn global add x",
        "pnpm add x",
        "pip install x",
        "python3 -m pip install x",
        "uv pip install x",
        "cargo install ripgrep",
        "go install example.org/x@latest",
        "sudo apt-get install -y x",
        "apt-get full-upgrade -y",
        "rustup component add clippy",
        "conda env create",
        "dotnet workload install x",
        "npm frobnicate",
    ] {
        assert!(installs(command), "{command}");
    }
    for command in [
        "npm test",
        "npm run install-hooks",
        "cargo build",
        "cargo test install",
        "go test ./...",
        "git add a",
        "git commit -m pip",
        "bundle exec rspec",
    ] {
        assert!(!installs(command), "{command}");
    }
}

#[test]
fn the_package_that_a_command_runs_is_found() {
    const BIN: Option<&str> = Some("node_modules/.bin");
    for (command, package, installed_in) in [
        ("npx eslint .", "eslint", BIN),
        ("npx -y cowsay hello", "cowsay", BIN),
        ("npx --package=left-pad tsc", "left-pad", BIN),
        ("npx -p left-pad tsc", "left-pad", BIN),
        ("npm exec eslint", "eslint", BIN),
        ("npm exec --package=left-pad -- tsc", "left-pad", BIN),
        ("npm create vite", "vite", BIN),
        ("bunx eslint", "eslint", BIN),
        ("bun x eslint", "eslint", BIN),
        ("pnpm dlx eslint", "eslint", None),
        ("yarn dlx eslint", "eslint", None),
        ("uvx ruff", "ruff", None),
        ("uv tool run ruff", "ruff", None),
        ("pipx run ruff", "ruff", None),
        ("/opt/node/bin/npm exec eslint", "eslint", BIN),
    ] {
        let found = packages(command);
        let wanted = (Some(package.to_owned()), installed_in);
        assert!(found.contains(&wanted), "{command}: {found:?}");
    }
    assert_eq!(packages("npx \"$TOOL\""), [(None, BIN)]);
    for command in ["npm init", "npm init -y", "npm run x", "pnpm exec eslint"] {
        assert_eq!(packages(command), [], "{command}");
        assert!(!runs_packages(command), "{command}");
    }
}

#[test]
fn a_command_may_place_a_link() {
    let places_links =
        |command: &str| any_part(command, |part| Tables::embedded().places_links(part));
    for command in [
        "ln -s /etc a",
        "mv a b",
        "cp -a a b",
        "cp --recursive a b",
        "cp -sr a b",
        "gcp -P a b",
        "/opt/bin/cp -R a b",
        "rsync -a a/ b/",
        "tar xf a.tar",
        "bsdtar xf a.tar",
        "unzip a.zip",
        "7z x a.7z",
        "unrar x a.rar",
        "cpio -i < a.cpio",
    ] {
        assert!(places_links(command), "{command}");
    }
    for command in [
        "cp a b",
        "cp -f a b",
        "mkdir a",
        "touch a",
        "tee a",
        "7z l a.7z",
    ] {
        assert!(!places_links(command), "{command}");
    }
}

/// Returns the different targets that a command controls.
fn controls(command: &str) -> Vec<ControlTarget> {
    let parts = Classifier::new().analyze(command).expect("a command").parts;
    let mut targets = Vec::new();
    for target in parts
        .all
        .iter()
        .flat_map(|part| Tables::embedded().controls(part))
    {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

#[test]
fn a_command_controls_targets() {
    for (command, targets) in [
        ("git config user.name ada", &[Git][..]),
        ("git -C a config user.name ada", &[Git]),
        ("GIT config user.name ada", &[Git]),
        ("/opt/git/bin/git config x.y z", &[Git]),
        ("git --frobnicate x config user.name ada", &[Git]),
        ("git -c core.pager=./x log", &[Git]),
        ("git --exec-path=/tmp status", &[Git]),
        ("git lfs install", &[Git]),
        ("pre-commit install", &[Git]),
        ("pre-commit", &[Git]),
        ("lefthook add pre-commit", &[Git]),
        ("npx husky init", &[Git]),
        ("bunx husky@9 install", &[Git]),
        ("npm exec simple-git-hooks", &[Git]),
        ("crontab -e", &[Schedule]),
        ("systemctl --user enable x", &[Schedule, Services]),
        ("systemctl stop x", &[Services]),
        ("chsh -s /bin/zsh", &[LoginShell]),
        ("usermod -s /bin/zsh ada", &[LoginShell]),
        ("ssh-copy-id a.example.org", &[Ssh]),
        ("update-alternatives --set a /b", &[Programs]),
        ("kill 1", &[ProcessIds]),
        ("pkill node", &[ProcessPatterns]),
        ("skill 1", &[ProcessIds, ProcessPatterns]),
        ("taskkill /im node", &[ProcessNames]),
        ("stop-process 1", &[ProcessNames]),
        ("killall5", &[AllProcesses]),
        ("fuser -k 3000/tcp", &[AllProcesses]),
        ("rust-gdb -p 1", &[InspectedProcesses]),
        ("shopt -s extglob", &[Parsing]),
        ("exec 3>a", &[Parsing]),
    ] {
        assert_eq!(controls(command), targets, "{command}");
    }
    for command in [
        "git commit -m config",
        "git -c core.pager=cat log",
        "pre-commit run",
        "lefthook run a",
        "npx cowsay",
        "usermod -a ada",
        "fuser 3000/tcp",
        "exec make",
        "compgen -c",
        "ls",
    ] {
        assert_eq!(controls(command), [], "{command}");
    }
}

#[test]
fn a_command_sets_variables_of_the_shell() {
    let sets = |command: &str| {
        any_part(command, |part| {
            Tables::embedded().sets_shell_variables(part)
        })
    };
    for command in [
        "export A=b",
        "integer A=1",
        "read A",
        "readarray A",
        "unset A",
        "printf -v A b",
    ] {
        assert!(sets(command), "{command}");
    }
    for command in ["printf A", "env A=b make", "set -e", "echo A"] {
        assert!(!sets(command), "{command}");
    }
}

#[test]
fn a_command_discards_data_of_a_repository() {
    let discards = |command: &str| -> Vec<DiscardedData> {
        let parts = Classifier::new().analyze(command).expect("a command").parts;
        let parts = parts.all.iter();
        parts
            .flat_map(|part| Tables::embedded().discards(part))
            .collect()
    };
    let cases: &[(&str, &[DiscardedData])] = &[
        ("git reset --hard", &[Changes]),
        ("git reset --h HEAD~1", &[Changes]),
        ("git -C a reset --hard", &[Changes]),
        ("sudo git reset --hard", &[Changes]),
        ("git reset", &[]),
        ("git reset --hard --unknown", &[]),
        ("git checkout .", &[ChangesOfOperands]),
        ("git restore a", &[ChangesOfOperands]),
        ("git clean -f", &[Untracked]),
        ("git clean -fdx", &[Ignored, Untracked, UntrackedFolders]),
        ("git clean -fX", &[OnlyIgnored, Untracked]),
        ("git stash drop", &[Stash]),
        ("git stash clear", &[AllStashes]),
        ("git branch -D a", &[Branches]),
        ("git branch -d a", &[]),
        ("git -f reset", &[]),
    ];
    for (command, expected) in cases {
        assert_eq!(discards(command), *expected, "{command}");
    }
}
