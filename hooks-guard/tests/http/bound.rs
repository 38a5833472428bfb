//! Scope of an approval in addition to command, directory and session: the agent, the real folder,
//! and the contents of the files that determine what the command does (`P-26`).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup};

/// Creates a folder with executable files.
fn project(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        write(folder.path(), file, &content(file));
    }
    folder
}

fn content(file: &str) -> String {
    match file.rsplit('/').next().unwrap() {
        "package.json" => json!({
            "scripts": {
                "pretest": "./before.sh",
                "test": "node test.js && npm run more",
                "more": "bash more.sh",
                "postinstall": "sh installed.sh",
                "start": "lint --all",
            }
        })
        .to_string(),
        "deno.json" => json!({ "tasks": { "ci": "deno run -A ci.ts" } }).to_string(),
        "requirements.txt" => "requests\n-r more.txt\n-e ./lib\n".to_owned(),
        "more.txt" => "-c constraints.txt\n".to_owned(),
        "build.ninja" => "include rules.ninja\nsubninja sub/build.ninja\n".to_owned(),
        "justfile" => "import 'x.just'\nmod deploy\n".to_owned(),
        "compose.yaml" => "include:\n  - sub/compose.yml\nservices:\n  a:\n    build: ./app\n    env_file: a.env\n".to_owned(),
        "Cargo.toml" => "[workspace]\nmembers = ['crates/*']\n[dependencies]\na = { path = 'lib' }\n".to_owned(),
        "Makefile" => "include rules.mk\ntest:\n\t./test.sh\n".to_owned(),
        _ => "one\n".to_owned(),
    }
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn body(folder: &Path, command: &str) -> Value {
    json!({ "command": command, "cwd": folder, "session_id": "s-1", "agent": "codex" })
}

#[track_caller]
fn permission(daemon: &Daemon, body: &Value) -> Value {
    daemon.post(body).ok()
}

#[track_caller]
fn assert_asks(daemon: &Daemon, body: &Value) -> String {
    let permission = permission(daemon, body);
    let command = &body["command"];
    assert_eq!(
        permission["decision"], "REQUIRES_CONFIRMATION",
        "{command}: {permission}"
    );
    permission["reasoning"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_allowed_by_approval(daemon: &Daemon, body: &Value) {
    let permission = permission(daemon, body);
    let command = &body["command"];
    assert_eq!(
        permission["decision"], "AUTO_ALLOWED",
        "{command}: {permission}"
    );
    assert_eq!(permission["approved"], true, "{command}: {permission}");
}

/// Approves a request and returns its record.
#[track_caller]
fn approve(daemon: &Daemon, body: &Value, remember: &str) -> Value {
    let permission = permission(daemon, body);
    let command = &body["command"];
    assert_eq!(
        permission["decision"], "REQUIRES_CONFIRMATION",
        "{command}: {permission}"
    );
    let answer = json!({
        "id": permission["id"], "response": "APPROVED", "remember": remember,
        "confirm_deletion": true,
    });
    let answer = daemon.respond_with(&answer);
    assert_eq!(answer.status, 200, "{command}: {}", answer.text());
    let mut record = daemon.record(&permission["id"]);
    record["secret"] = permission["secret"].clone();
    record
}

fn without_rate_limit() -> Daemon {
    Setup::new()
        .rate_limit(Some(100_000))
        .config("max_open_questions_per_session = 10000")
        .start()
}

/// A command, the existing files, and the file that determines the command's effect.
const DECIDED_BY: &[(&str, &[&str], &str)] = &[
    ("curl -K x.conf", &["x.conf"], "x.conf"),
    (
        "curl --config x.conf https://example.com",
        &["x.conf"],
        "x.conf",
    ),
    ("tar -cf a.tar -T list", &["list"], "list"),
    ("tar cf a.tar --exclude-from=list src", &["list"], "list"),
    ("rsync -a --files-from=list src/ copy/", &["list"], "list"),
    ("wget -i list", &["list"], "list"),
    ("eslint src", &["eslint.config.js"], "eslint.config.js"),
    ("eslint --fix -c x.cjs src", &["x.cjs"], "x.cjs"),
    (
        "prettier --write src",
        &[".prettierrc.mjs"],
        ".prettierrc.mjs",
    ),
    ("tsc", &["tsconfig.json"], "tsconfig.json"),
    ("tsc -p sub", &["sub/tsconfig.json"], "sub/tsconfig.json"),
    ("vite build", &["vite.config.ts"], "vite.config.ts"),
    ("vitest run", &["vite.config.ts"], "vite.config.ts"),
    (
        "stylelint src",
        &["stylelint.config.js"],
        "stylelint.config.js",
    ),
    ("black src", &["pyproject.toml"], "pyproject.toml"),
    ("ruff format src", &["ruff.toml"], "ruff.toml"),
    ("mypy src", &["mypy.ini"], "mypy.ini"),
    (
        "pip install -r requirements.txt",
        &["requirements.txt", "more.txt"],
        "more.txt",
    ),
    (
        "pip install -r requirements.txt",
        &["requirements.txt", "more.txt", "constraints.txt"],
        "constraints.txt",
    ),
    (
        "pip install -r requirements.txt",
        &["requirements.txt", "lib/setup.py"],
        "lib/setup.py",
    ),
    ("pip install -e .", &["setup.py"], "setup.py"),
    (
        "pip install -e ./lib",
        &["lib/pyproject.toml"],
        "lib/pyproject.toml",
    ),
    ("ninja", &["build.ninja", "rules.ninja"], "rules.ninja"),
    (
        "ninja",
        &["build.ninja", "sub/build.ninja"],
        "sub/build.ninja",
    ),
    ("just build", &["justfile", "x.just"], "x.just"),
    (
        "just build",
        &["justfile", "deploy/mod.just"],
        "deploy/mod.just",
    ),
    (
        "docker compose up",
        &["compose.yaml", "sub/compose.yml"],
        "sub/compose.yml",
    ),
    (
        "docker compose up",
        &["compose.yaml", "app/Dockerfile"],
        "app/Dockerfile",
    ),
    ("docker compose up", &["compose.yaml", "a.env"], "a.env"),
    (
        "cargo build",
        &["Cargo.toml", "crates/a/Cargo.toml"],
        "crates/a/Cargo.toml",
    ),
    (
        "cargo test",
        &["Cargo.toml", "crates/a/build.rs"],
        "crates/a/build.rs",
    ),
    ("cargo run", &["Cargo.toml", "lib/build.rs"], "lib/build.rs"),
    ("bash deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("sh -e deploy.sh prod", &["deploy.sh"], "deploy.sh"),
    ("bash --rcfile rc.sh -i", &["rc.sh"], "rc.sh"),
    ("zsh deploy.sh", &["deploy.sh"], "deploy.sh"),
    (
        "bash -x -o pipefail -- deploy.sh",
        &["deploy.sh"],
        "deploy.sh",
    ),
    (
        "/bin/bash ./sub/../deploy.sh",
        &["deploy.sh", "sub/a"],
        "deploy.sh",
    ),
    ("/usr/bin/env bash deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("exec ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("command bash deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("\\bash \"deploy.sh\"", &["deploy.sh"], "deploy.sh"),
    ("doas sh deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("su -c './deploy.sh'", &["deploy.sh"], "deploy.sh"),
    ("busybox sh deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("setsid ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("stdbuf -oL ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("flock lock ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("watch ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("parallel ./deploy.sh ::: a b", &["deploy.sh"], "deploy.sh"),
    ("script -c ./deploy.sh log", &["deploy.sh"], "deploy.sh"),
    (
        "find . -name a -exec ./deploy.sh {} +",
        &["deploy.sh"],
        "deploy.sh",
    ),
    ("strace -f ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("tmux new -d ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("trap ./deploy.sh EXIT", &["deploy.sh"], "deploy.sh"),
    ("ssh host bash < deploy.sh", &["deploy.sh"], "deploy.sh"),
    (
        "for i in 1 2; do ./deploy.sh $i; done",
        &["deploy.sh"],
        "deploy.sh",
    ),
    (
        "true && { false || bash deploy.sh; }",
        &["deploy.sh"],
        "deploy.sh",
    ),
    ("python3 -u -X dev x.py", &["x.py"], "x.py"),
    ("python3 < x.py", &["x.py"], "x.py"),
    ("python3 - < x.py", &["x.py"], "x.py"),
    ("ipython x.py", &["x.py"], "x.py"),
    ("pypy3 x.py", &["x.py"], "x.py"),
    ("python3 manage.py migrate", &["manage.py"], "manage.py"),
    ("php artisan migrate", &["artisan"], "artisan"),
    ("node --import ./l.mjs x.mjs", &["x.mjs", "l.mjs"], "l.mjs"),
    ("npx tsx x.ts", &["x.ts"], "x.ts"),
    ("deno task ci", &["deno.json", "ci.ts"], "ci.ts"),
    ("fish x.fish", &["x.fish"], "x.fish"),
    ("pwsh -File x.ps1", &["x.ps1"], "x.ps1"),
    ("julia x.jl", &["x.jl"], "x.jl"),
    ("java X.java", &["X.java"], "X.java"),
    ("elixir x.exs", &["x.exs"], "x.exs"),
    ("expect x.exp", &["x.exp"], "x.exp"),
    ("tclsh x.tcl", &["x.tcl"], "x.tcl"),
    ("gdb -x x.gdb a", &["x.gdb"], "x.gdb"),
    ("vim -S x.vim a", &["x.vim"], "x.vim"),
    ("mysql shop < x.sql", &["x.sql"], "x.sql"),
    ("mongosh x.js", &["x.js"], "x.js"),
    ("cat x.sql | psql", &["x.sql"], "x.sql"),
    ("cat x.yaml | kubectl apply -f -", &["x.yaml"], "x.yaml"),
    ("kubectl apply -f - < x.yaml", &["x.yaml"], "x.yaml"),
    ("git apply x.patch", &["x.patch"], "x.patch"),
    ("patch -p1 < x.patch", &["x.patch"], "x.patch"),
    (
        "git add . && git commit -m x",
        &[".git/hooks/pre-commit"],
        ".git/hooks/pre-commit",
    ),
    (
        "mkdir -p build && make > build/log",
        &["Makefile"],
        "Makefile",
    ),
    ("git deploy", &[".git/config", ".git/HEAD"], ".git/config"),
    ("run-parts jobs", &["jobs/a"], "jobs/a"),
    ("make -Csub", &["sub/Makefile"], "sub/Makefile"),
    (
        "make --directory=sub all",
        &["sub/Makefile"],
        "sub/Makefile",
    ),
    ("make --makefile=x.mk", &["x.mk"], "x.mk"),
    ("terraform apply x.plan", &["x.plan", "main.tf"], "x.plan"),
    (
        "npm --prefix sub test",
        &["sub/package.json", "sub/test.js"],
        "sub/test.js",
    ),
    (
        "npm run-script more",
        &["package.json", "more.sh"],
        "more.sh",
    ),
    (
        "docker-compose up",
        &["docker-compose.yml"],
        "docker-compose.yml",
    ),
    ("podman build -t x .", &["Containerfile"], "Containerfile"),
    (". ./env.sh", &["env.sh"], "env.sh"),
    ("source env.sh && make", &["env.sh", "Makefile"], "env.sh"),
    ("BASH_ENV=env.sh bash -c 'mkdir a'", &["env.sh"], "env.sh"),
    (
        "export BASH_ENV=env.sh; bash deploy.sh",
        &["env.sh", "deploy.sh"],
        "env.sh",
    ),
    ("LD_PRELOAD=./x.so make", &["x.so", "Makefile"], "x.so"),
    ("python3 x.py --all", &["x.py"], "x.py"),
    ("python3 -m tool", &["tool.py"], "tool.py"),
    (
        "python3 -m tool.run",
        &["tool/run/__main__.py"],
        "tool/run/__main__.py",
    ),
    ("python3 app", &["app/__main__.py"], "app/__main__.py"),
    ("node x.js", &["x.js"], "x.js"),
    ("node -r ./hook.js x.js", &["x.js", "hook.js"], "hook.js"),
    ("ruby x.rb", &["x.rb"], "x.rb"),
    ("perl x.pl", &["x.pl"], "x.pl"),
    ("php x.php", &["x.php"], "x.php"),
    ("lua x.lua", &["x.lua"], "x.lua"),
    ("deno run x.ts", &["x.ts"], "x.ts"),
    ("bun x.ts", &["x.ts"], "x.ts"),
    ("tsx x.ts", &["x.ts"], "x.ts"),
    ("Rscript x.R", &["x.R"], "x.R"),
    ("frobnicate --file=x.conf", &["x.conf"], "x.conf"),
    ("awk -f x.awk data", &["x.awk", "data"], "x.awk"),
    ("sed -i -f x.sed data", &["x.sed", "data"], "x.sed"),
    ("make -f x.mk test", &["x.mk"], "x.mk"),
    ("psql -f x.sql", &["x.sql"], "x.sql"),
    ("sqlite3 a.db < x.sql", &["x.sql"], "x.sql"),
    ("bash < x.sh", &["x.sh"], "x.sh"),
    ("bash -s prod < x.sh", &["x.sh"], "x.sh"),
    ("{ bash; } < x.sh", &["x.sh"], "x.sh"),
    ("cat x.sh | bash", &["x.sh"], "x.sh"),
    ("cat x.sh y.sh | sudo sh", &["x.sh", "y.sh"], "y.sh"),
    ("./deploy.sh", &["deploy.sh"], "deploy.sh"),
    (
        "chmod +x deploy.sh && ./deploy.sh",
        &["deploy.sh"],
        "deploy.sh",
    ),
    ("./deploy.sh \"$VERSION\"", &["deploy.sh"], "deploy.sh"),
    ("bin/tool", &["bin/tool"], "bin/tool"),
    ("cd sub && ./x.sh", &["sub/x.sh"], "sub/x.sh"),
    ("(cd sub; bash x.sh)", &["sub/x.sh"], "sub/x.sh"),
    ("pushd sub && make test", &["sub/Makefile"], "sub/Makefile"),
    ("env A=1 ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("sudo ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("timeout 5 bash deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("nice -n 5 ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("time ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("nohup ./deploy.sh &", &["deploy.sh"], "deploy.sh"),
    ("if true; then ./deploy.sh; fi", &["deploy.sh"], "deploy.sh"),
    ("f() { bash deploy.sh; }; f", &["deploy.sh"], "deploy.sh"),
    ("X=deploy.sh; bash $X", &["deploy.sh"], "deploy.sh"),
    ("bash -c './deploy.sh'", &["deploy.sh"], "deploy.sh"),
    ("eval ./deploy.sh", &["deploy.sh"], "deploy.sh"),
    ("echo $(./deploy.sh)", &["deploy.sh"], "deploy.sh"),
    (
        "find . -name '*.txt' | xargs ./deploy.sh",
        &["deploy.sh"],
        "deploy.sh",
    ),
    (
        "PATH=./tools:$PATH deploy",
        &["tools/deploy"],
        "tools/deploy",
    ),
    (
        "export PATH=none:tools:$PATH; deploy",
        &["tools/deploy"],
        "tools/deploy",
    ),
    ("make test", &["Makefile"], "Makefile"),
    ("make test", &["Makefile", "rules.mk"], "rules.mk"),
    ("make -C sub", &["sub/Makefile"], "sub/Makefile"),
    ("just build", &["justfile"], "justfile"),
    ("task build", &["Taskfile.yml"], "Taskfile.yml"),
    ("rake build", &["Rakefile"], "Rakefile"),
    ("cmake -P x.cmake", &["x.cmake"], "x.cmake"),
    ("ninja", &["build.ninja"], "build.ninja"),
    ("npm test", &["package.json"], "package.json"),
    ("npm test", &["package.json", "test.js"], "test.js"),
    ("npm test", &["package.json", "before.sh"], "before.sh"),
    ("npm test", &["package.json", "more.sh"], "more.sh"),
    ("npm t", &["package.json", "test.js"], "test.js"),
    ("npm run more", &["package.json", "more.sh"], "more.sh"),
    (
        "npm run more",
        &["package.json", ".npmrc", "more.sh"],
        ".npmrc",
    ),
    (
        "npm install",
        &["package.json", "installed.sh"],
        "installed.sh",
    ),
    (
        "npm start",
        &["package.json", "node_modules/.bin/lint"],
        "node_modules/.bin/lint",
    ),
    (
        "cd sub && npm test",
        &["package.json", "test.js", "sub/a"],
        "test.js",
    ),
    ("pnpm run more", &["package.json", "more.sh"], "more.sh"),
    ("pnpm more", &["package.json", "more.sh"], "more.sh"),
    ("yarn more", &["package.json", "more.sh"], "more.sh"),
    ("yarn test", &["package.json", "test.js"], "test.js"),
    ("bun run more", &["package.json", "more.sh"], "more.sh"),
    (
        "cargo test",
        &["Cargo.toml", "Cargo.lock", "build.rs"],
        "build.rs",
    ),
    (
        "cargo xtask ci",
        &["Cargo.toml", ".cargo/config.toml"],
        ".cargo/config.toml",
    ),
    ("go run x.go", &["x.go"], "x.go"),
    ("go run ./cmd/x", &["cmd/x/main.go"], "cmd/x/main.go"),
    ("go generate", &["x.go"], "x.go"),
    (
        "./gradlew build",
        &["gradlew", "build.gradle"],
        "build.gradle",
    ),
    (
        "gradle build",
        &["settings.gradle.kts"],
        "settings.gradle.kts",
    ),
    ("mvn package", &["pom.xml"], "pom.xml"),
    ("pytest", &["conftest.py"], "conftest.py"),
    (
        "pytest tests/test_a.py",
        &["tests/test_a.py"],
        "tests/test_a.py",
    ),
    ("python3 -m pytest", &["pyproject.toml"], "pyproject.toml"),
    ("tox", &["tox.ini"], "tox.ini"),
    ("nox", &["noxfile.py"], "noxfile.py"),
    (
        "poetry run python x.py",
        &["pyproject.toml", "x.py"],
        "x.py",
    ),
    ("uv run x.py", &["x.py"], "x.py"),
    (
        "pip install -r requirements.txt",
        &["requirements.txt"],
        "requirements.txt",
    ),
    ("pip install .", &["pyproject.toml"], "pyproject.toml"),
    ("docker build .", &["Dockerfile"], "Dockerfile"),
    ("docker build -f x.docker .", &["x.docker"], "x.docker"),
    ("docker compose up -d", &["compose.yaml"], "compose.yaml"),
    ("docker-compose -f x.yml up", &["x.yml"], "x.yml"),
    ("terraform apply", &["main.tf"], "main.tf"),
    (
        "tofu -chdir=infra apply",
        &["infra/main.tf"],
        "infra/main.tf",
    ),
    ("ansible-playbook x.yml", &["x.yml"], "x.yml"),
    ("kubectl apply -f x.yaml", &["x.yaml"], "x.yaml"),
    ("kubectl apply -f all", &["all/x.yaml"], "all/x.yaml"),
    (
        "helm upgrade app ./chart",
        &["chart/values.yaml"],
        "chart/values.yaml",
    ),
    (
        "git commit -m x",
        &[".git/hooks/pre-commit"],
        ".git/hooks/pre-commit",
    ),
    (
        "git commit -m x",
        &[".husky/pre-commit", ".git/HEAD"],
        ".husky/pre-commit",
    ),
    (
        "pre-commit run",
        &[".pre-commit-config.yaml"],
        ".pre-commit-config.yaml",
    ),
    ("composer install", &["composer.json"], "composer.json"),
    ("bundle exec rspec", &["Gemfile"], "Gemfile"),
    ("mix test", &["mix.exs"], "mix.exs"),
];

/// `P-26`: a change of a relevant file leads to a new question; without a change, the approval
/// applies.
#[test]
fn a_permanent_approval_applies_while_its_files_are_unchanged() {
    let daemon = without_rate_limit();
    let mut wrong = Vec::new();
    for (command, files, decides) in DECIDED_BY {
        let folder = project(files);
        let body = body(folder.path(), command);
        let asked = permission(&daemon, &body);
        if asked["decision"] != "REQUIRES_CONFIRMATION" {
            wrong.push(format!("{command}: not asked: {asked}"));
            continue;
        }
        let answer = json!({ "id": asked["id"], "response": "APPROVED", "remember": "always" });
        let answer = daemon.respond_with(&answer);
        if answer.status != 200 {
            wrong.push(format!("{command}: {}", answer.text()));
            continue;
        }
        let record = daemon.record(&asked["id"]);
        let covers = record["covers"].as_array().cloned().unwrap_or_default();
        if !covers.contains(&json!(decides)) {
            wrong.push(format!("{command}: covers {covers:?} without {decides}"));
        }
        let mut expect = |when: &str, decision: &str, because: &str| {
            let permission = permission(&daemon, &body);
            let reasoning = permission["reasoning"].as_str().unwrap();
            if permission["decision"] != decision || !reasoning.contains(because) {
                wrong.push(format!("{command}: {when}: {permission}"));
            }
        };
        let path = folder.path().join(decides);
        let (assert_asks, allows) = ("REQUIRES_CONFIRMATION", "AUTO_ALLOWED");
        expect("unchanged", allows, "remembered answer");
        let before = fs::read(&path).unwrap();
        let mut changed = before.clone();
        changed.extend(b"\n");
        fs::write(&path, &changed).unwrap();
        expect("changed", assert_asks, &format!("`{decides}` has changed"));
        fs::write(&path, &before).unwrap();
        expect("as before", allows, "remembered answer");
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        expect("gone", assert_asks, "does not apply");
        // Equal contents at another path are another file.
        symlink(folder.path().join("elsewhere"), &path).unwrap();
        expect("a link", assert_asks, "does not apply");
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// `P-26`: a relevant file that was missing leads to a question when it appears.
#[test]
fn a_new_relevant_file_leads_to_a_new_question() {
    let daemon = without_rate_limit();
    let cases: &[(&str, &[&str], &str)] = &[
        ("make test", &["Makefile"], "GNUmakefile"),
        ("make test", &["Makefile"], "rules.mk"),
        ("npm test", &["package.json", "test.js"], "before.sh"),
        (
            "cd sub && npm test",
            &["package.json", "sub/a"],
            "sub/package.json",
        ),
        ("cargo test", &["Cargo.toml"], ".cargo/config.toml"),
        (
            "git commit -m x",
            &[".git/hooks/pre-commit"],
            ".git/hooks/commit-msg",
        ),
        ("terraform apply", &["main.tf"], "more.tf"),
        ("pytest", &["pyproject.toml"], "conftest.py"),
        (
            "docker compose up",
            &["compose.yaml"],
            "compose.override.yaml",
        ),
        ("PATH=a:b:$PATH deploy", &["b/deploy"], "a/deploy"),
        ("cargo build", &["Cargo.toml"], "crates/new/Cargo.toml"),
        ("ninja", &["build.ninja"], "rules.ninja"),
        ("prettier --write src", &["src/a.js"], ".prettierrc.cjs"),
        ("just build", &["justfile"], "deploy.just"),
        (
            "pip install -r requirements.txt",
            &["requirements.txt"],
            "more.txt",
        ),
    ];
    for (command, files, appears) in cases {
        let folder = project(files);
        let body = body(folder.path(), command);
        approve(&daemon, &body, "always");
        assert_allowed_by_approval(&daemon, &body);
        write(folder.path(), appears, "new\n");
        let why = assert_asks(&daemon, &body);
        assert!(why.contains("does not apply"), "{command}: {why}");
    }
}

/// `P-26`: a command that writes a file would write elsewhere after the file became a link.
#[test]
fn an_approval_does_not_apply_after_a_written_file_becomes_a_link() {
    let daemon = without_rate_limit();
    for (command, written) in [
        ("cp v out", "out"),
        ("cp v sub/out", "sub/out"),
        ("echo text > out", "out"),
        ("tee -a out < v", "out"),
        ("touch out", "out"),
        ("curl -o out https://example.com", "out"),
        ("mkdir -p made/out", "made"),
    ] {
        let folder = project(&["v", "sub/a", "elsewhere/a"]);
        let body = body(folder.path(), command);
        approve(&daemon, &body, "always");
        assert_allowed_by_approval(&daemon, &body);
        symlink(folder.path().join("elsewhere"), folder.path().join(written)).unwrap();
        let why = assert_asks(&daemon, &body);
        assert!(why.contains("does not apply"), "{command}: {why}");
        fs::remove_file(folder.path().join(written)).unwrap();
        assert_allowed_by_approval(&daemon, &body);
        // A folder above the file, too.
        if let Some((folder_name, _)) = written.split_once('/') {
            let place = folder.path().join(folder_name);
            fs::remove_dir_all(&place).unwrap();
            symlink(folder.path().join("elsewhere"), &place).unwrap();
            assert_asks(&daemon, &body);
        }
    }
}

/// `P-26`: a linked work tree uses the hooks of its repository.
#[test]
fn an_approval_is_bound_to_the_hooks_of_a_linked_work_tree() {
    let daemon = without_rate_limit();
    let folder = project(&["main/.git/hooks/pre-commit", "tree/a"]);
    let linked = "main/.git/worktrees/tree/commondir";
    write(folder.path(), linked, "../..\n");
    let pointer = folder.path().join("main/.git/worktrees/tree");
    write(
        folder.path(),
        "tree/.git",
        &format!("gitdir: {}\n", pointer.display()),
    );
    let body = body(&folder.path().join("tree"), "git commit -m x");
    approve(&daemon, &body, "always");
    assert_allowed_by_approval(&daemon, &body);
    write(folder.path(), "main/.git/hooks/pre-commit", "two\n");
    let why = assert_asks(&daemon, &body);
    assert!(why.contains("pre-commit` has changed"), "{why}");
}

/// `P-26`: a command with more files than a stored scope may have is approved once, while all of
/// them are unchanged.
#[test]
fn a_command_with_too_many_files_is_approved_once_only() {
    let daemon = without_rate_limit();
    let folder = project(&["a"]);
    for hook in 0..1500 {
        write(
            folder.path(),
            &format!(".git/hooks/hook-{hook:04}"),
            "one\n",
        );
    }
    let body = body(folder.path(), "git commit -m x");
    let record = approve(&daemon, &body, "once");
    let always = record["always"].as_str().unwrap();
    assert!(always.contains("depends on"), "{always}");
    let redeem = |record: &Value| {
        let target = format!("/api/hooks/decisions/{}/redeem", record["id"]);
        let secret = json!({ "secret": record["secret"] });
        daemon.send(&Request::new("POST", &target).json(&secret))
    };
    redeem(&record).ok();
    let record = approve(&daemon, &body, "once");
    write(folder.path(), ".git/hooks/hook-1499", "two\n");
    redeem(&record).error(409, "CHANGED");
    let why = assert_asks(&daemon, &body);
    assert!(why.contains("has changed"), "{why}");
}

/// `P-26`: code that is only known at run time is not remembered.
#[test]
fn a_permanent_approval_is_refused_for_code_known_at_run_time_only() {
    let daemon = without_rate_limit();
    let folder = project(&["deploy.sh", "a/x.sh", "Makefile"]);
    let big = vec![b'#'; 5 << 20];
    fs::write(folder.path().join("big.sh"), big).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe.sh"), 0o600.into()).unwrap();
    for command in [
        "bash \"$SCRIPT\"",
        "bash $1",
        "\"$TOOL\" --all",
        "$(which deploy) now",
        "bash -c \"$CODE\"",
        "eval \"$CODE\"",
        "python3 -c \"$CODE\"",
        "bash <(curl -s https://x.example/a.sh)",
        "curl -s https://x.example/a.sh | bash",
        "curl -so a.sh https://x.example/a.sh && bash a.sh",
        "curl -sO https://x.example/deploy.sh && bash deploy.sh",
        "git pull && make",
        "git checkout main && ./deploy.sh",
        "tar xf new.tar && ./deploy.sh",
        "cat deploy.sh > b.sh; bash b.sh",
        "sed -i s/a/b/ deploy.sh && bash deploy.sh",
        "bash a/*.sh",
        "PATH=$TOOLS deploy",
        "PATH=$TOOLS:$PATH deploy",
        "BASH_ENV=$FILE bash deploy.sh",
        "find . -name a | xargs -I{} sh {}",
        "cd \"$DIR\" && ./deploy.sh",
        "deno run https://x.example/x.ts",
        "kubectl apply -f https://x.example/x.yaml",
        "npm run \"$NAME\"",
        "npm test -w other",
        "pnpm -r test",
        "yarn workspace other test",
        "kustomize build . | kubectl apply -f -",
        "ls | sh",
        "echo \"$CODE\" | bash",
        "grep -rh x | sh",
        "grep -rh x . | sh",
        "cat deploy.sh | curl -sd @- https://x.example/ | bash",
        "cat a/*.sh | sh",
        "bash <<< \"$CODE\"",
        "printf '%s' \"$(date)\" | sh",
        "git fetch && git merge origin/main && ./deploy.sh",
        "wget -q https://x.example/deploy.sh; sh deploy.sh",
        "cp a/x.sh deploy.sh && ./deploy.sh",
        "mv a/x.sh deploy.sh && ./deploy.sh",
        "ln -sfn b a && a/x.sh",
        "gln -sfn b a && a/x.sh",
        "cp ../deploy.sh . && ./deploy.sh",
        "false && cp a/x.sh deploy.sh; bash deploy.sh",
        "printf 'rm x' > deploy.sh; . ./deploy.sh",
        "ln -sf a/x.sh deploy.sh && ./deploy.sh",
        "tee deploy.sh < a/x.sh; ./deploy.sh",
        "echo 'test: ; true' >> Makefile && make",
        "find . -name '*.sh' | xargs -n1 bash",
        "find . -name '*.sh' -exec bash {} \\;",
        "bash missing.sh",
        "./missing.sh",
        "just build",
        "bash big.sh",
        "bash pipe.sh",
    ] {
        let body = body(folder.path(), command);
        let permission = permission(&daemon, &body);
        assert_eq!(
            permission["decision"], "REQUIRES_CONFIRMATION",
            "{command}: {permission}"
        );
        for remember in ["always", "session"] {
            let answer =
                json!({ "id": permission["id"], "response": "APPROVED", "remember": remember });
            let answer = daemon.respond_with(&answer);
            assert_eq!(answer.status, 409, "{command}: {}", answer.text());
            answer.error(409, "CANNOT_BE_REMEMBERED");
        }
        let record = daemon.record(&permission["id"]);
        let always = record["always"].as_str().unwrap();
        assert!(
            always.starts_with("`always` is not possible: "),
            "{command}: {always}"
        );
        // A single approval is possible: the operator has looked at it.
        daemon.respond(&permission["id"], "APPROVED").ok();
    }
}

/// `P-26`: a service in a container cannot see the agent's files.
#[test]
fn a_permanent_approval_is_refused_if_the_service_sees_no_files() {
    let daemon = without_rate_limit();
    for (cwd, command) in [
        ("/nowhere/app", "make test"),
        ("/nowhere/app", "npm test"),
        ("/nowhere/app", "cargo test"),
        ("/nowhere/app", "./deploy.sh"),
        ("/nowhere/app", "frobnicate"),
        ("/nowhere/app", "git commit -m x"),
        ("/", "git push"),
        ("/", "bash /nowhere/app/deploy.sh"),
    ] {
        let permission = permission(&daemon, &body(Path::new(cwd), command));
        let answer =
            json!({ "id": permission["id"], "response": "APPROVED", "remember": "always" });
        let answer = daemon.respond_with(&answer);
        assert_eq!(answer.status, 409, "{command}: {}", answer.text());
    }
    let body = body(Path::new("/nowhere/app"), "mkdir out");
    approve(&daemon, &body, "always");
    assert_allowed_by_approval(&daemon, &body);
}

#[test]
fn an_approval_applies_to_one_agent() {
    let daemon = without_rate_limit();
    let folder = project(&["deploy.sh"]);
    for command in ["bash deploy.sh", "mkdir out"] {
        for remember in ["once", "session", "always"] {
            let mut body = body(folder.path(), command);
            approve(&daemon, &body, remember);
            for other in [json!("claude-code"), json!("Codex"), Value::Null] {
                let mut other_body = body.clone();
                other_body["agent"] = other;
                let why = assert_asks(&daemon, &other_body);
                assert!(why.contains("the approval was for `codex`"), "{why}");
            }
            assert_allowed_by_approval(&daemon, &body);
            body["agent"] = Value::Null;
            for one in super::bound::remembered(&daemon) {
                let target = format!("/api/hooks/remembered/{}", one["id"]);
                daemon.send(&Request::new("DELETE", &target).bearer(crate::support::daemon::TOKEN));
            }
        }
    }
}

fn remembered(daemon: &Daemon) -> Vec<Value> {
    let body = daemon.get("/api/hooks/remembered").ok();
    body["remembered"].as_array().unwrap().clone()
}

#[test]
fn an_approval_applies_to_the_resolved_directory() {
    let daemon = without_rate_limit();
    let (one, two) = (
        project(&["deploy.sh", "sub/x"]),
        project(&["deploy.sh", "sub/x"]),
    );
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("app");
    let point = |to: &Path| {
        let _ = fs::remove_file(&link);
        symlink(to, &link).unwrap();
    };
    for command in ["bash deploy.sh", "mkdir out", "rm -r sub/x"] {
        point(one.path());
        let body = body(&link, command);
        approve(&daemon, &body, "always");
        assert_allowed_by_approval(&daemon, &body);
        point(two.path());
        let why = assert_asks(&daemon, &body);
        assert!(why.contains("is now another directory"), "{command}: {why}");
        point(one.path());
        assert_allowed_by_approval(&daemon, &body);
    }
    // A symbolic link on the way to the operand.
    let body = body(links.path(), "cp x app/sub/");
    point(one.path());
    approve(&daemon, &body, "always");
    assert_allowed_by_approval(&daemon, &body);
    point(two.path());
    assert_asks(&daemon, &body);
    let mut file = body.clone();
    file["command"] = json!("Write app/a.txt");
    file["file"] = json!({ "tool": "Write", "effect": "CREATE", "paths": ["app/a.txt"] });
    approve(&daemon, &file, "always");
    assert_allowed_by_approval(&daemon, &file);
    point(one.path());
    assert_asks(&daemon, &file);
}

/// `P-26`: `..` after a symbolic link is the parent of the link's target.
#[test]
fn a_parent_component_after_a_link_is_resolved_like_the_system() {
    let daemon = without_rate_limit();
    let folder = project(&["x.sh", "other/x.sh", "other/sub/a"]);
    symlink(folder.path().join("other/sub"), folder.path().join("link")).unwrap();
    let body = body(folder.path(), "bash link/../x.sh");
    approve(&daemon, &body, "always");
    assert_allowed_by_approval(&daemon, &body);
    write(folder.path(), "other/x.sh", "two\n");
    assert_asks(&daemon, &body);
}

/// `P-26`: a folder that cannot be listed may contain a relevant file.
#[test]
fn a_permanent_approval_is_refused_for_an_unreadable_folder() {
    let daemon = without_rate_limit();
    let folder = project(&[".git/config"]);
    let hooks = folder.path().join(".git/hooks");
    symlink(&hooks, &hooks).unwrap();
    let permission = permission(&daemon, &body(folder.path(), "git commit -m x"));
    let answer = json!({ "id": permission["id"], "response": "APPROVED", "remember": "always" });
    let answer = daemon.respond_with(&answer);
    answer.error(409, "CANNOT_BE_REMEMBERED");
    assert!(answer.text().contains("cannot read"), "{}", answer.text());
}

/// `P-26`: a file that changed while the question was open leads to a new question.
#[test]
fn an_approval_of_a_changed_script_cannot_be_redeemed() {
    let daemon = without_rate_limit();
    let folder = project(&["deploy.sh"]);
    let body = body(folder.path(), "bash deploy.sh");
    let record = approve(&daemon, &body, "once");
    write(folder.path(), "deploy.sh", "two\n");
    let redeem = |record: &Value, secret: &Value| {
        let target = format!("/api/hooks/decisions/{}/redeem", record["id"]);
        daemon.send(&Request::new("POST", &target).json(&json!({ "secret": secret })))
    };
    let answer = redeem(&record, &record["secret"]);
    let error = answer.error(409, "CHANGED");
    let _ = error;
    assert!(
        answer.text().contains("`deploy.sh` has changed"),
        "{}",
        answer.text()
    );
    // Without the secret, nothing is revealed.
    redeem(&record, &json!("wrong-wrong")).error(403, "WRONG_SECRET");
    let why = assert_asks(&daemon, &body);
    let expected = format!(
        "approved before as decision {}; `deploy.sh` has changed",
        record["id"]
    );
    assert!(why.contains(&expected), "{why}");
    write(folder.path(), "deploy.sh", &content("deploy.sh"));
    redeem(&record, &record["secret"]).ok();
    redeem(&record, &record["secret"]).error(409, "ALREADY_USED");
}

/// A word that is masked in the command does not appear in the names of the scope's files, either.
#[test]
fn the_scope_of_an_approval_contains_no_secrets() {
    let daemon = without_rate_limit();
    let folder = project(&["deploy.sh"]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    for command in [
        format!("pip install git+https://{secret}@github.com/a/b"),
        format!("pip install {secret}"),
        format!("bash {secret}"),
        format!("TOKEN={secret} frobnicate {secret}"),
    ] {
        let permission = permission(&daemon, &body(folder.path(), &command));
        let record = daemon.record(&permission["id"]).to_string();
        assert!(!record.contains(&secret), "{command}: {record}");
    }
    let database = daemon.setup().database_file();
    for file in [
        database.clone(),
        format!("{}-wal", database.display()).into(),
    ] {
        let bytes = fs::read(&file).unwrap_or_default();
        let found = bytes
            .windows(secret.len())
            .any(|text| text == secret.as_bytes());
        assert!(!found, "{}", file.display());
    }
    // A secret that is also a file name can still be approved.
    let body = body(folder.path(), "PASSWORD=deploy.sh bash deploy.sh");
    approve(&daemon, &body, "once");
    assert_allowed_by_approval(&daemon, &body);
}

#[test]
fn a_question_states_the_scope_of_a_permanent_approval() {
    let daemon = without_rate_limit();
    let folder = project(&[
        "deploy.sh",
        "package.json",
        "test.js",
        "before.sh",
        "more.sh",
    ]);
    let shown = folder.path().display();
    let ask = |command: &str| {
        let permission = permission(&daemon, &body(folder.path(), command));
        daemon.record(&permission["id"])
    };
    let record = ask("bash deploy.sh");
    assert_eq!(record["covers"], json!(["deploy.sh"]));
    assert_eq!(
        record["always"],
        format!(
            "`always` applies to codex in {shown} while `deploy.sh` is unchanged; changes of \
             programs and files that these use are not detected"
        )
    );
    let record = ask("npm test");
    for file in ["package.json", "test.js", "before.sh", "more.sh"] {
        assert!(
            record["covers"].as_array().unwrap().contains(&json!(file)),
            "{record}"
        );
    }
    let record = ask("mkdir out");
    assert_eq!(record["covers"], Value::Null);
    assert_eq!(
        record["always"],
        format!("`always` applies to codex in {shown}")
    );
    assert_eq!(ask("ls")["always"], Value::Null);
    let body = body(folder.path(), "bash deploy.sh");
    approve(&daemon, &body, "always");
    let list = remembered(&daemon);
    assert_eq!(list[0]["covers"], json!(["deploy.sh"]));
    assert!(
        list[0]["holds"]
            .as_str()
            .unwrap()
            .contains("`deploy.sh` is unchanged")
    );
}
