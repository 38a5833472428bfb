//! Restrictions of a call under each confinement that this machine supports. The calls run scripts
//! that no policy reads, so only the confinement can stop them.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{
    bash, confinements, example, finish, folder, has_program, open_to_all_users, run, script,
    session, with_and_without_confinement,
};

#[test]
fn nothing_outside_the_scratch_copy_is_changed() {
    for plan in confinements() {
        let outside = Outside::new();
        let (folder, file) = (outside.folder.path().display(), outside.file());
        let file = file.display();
        let attempts = [
            format!("echo x > {file}"),
            format!("echo x >> {file}"),
            format!("echo x > {folder}/new"),
            format!("mkdir {folder}/new"),
            format!("mkfifo {folder}/new"),
            format!("rm -f {file}"),
            format!("mv {file} {folder}/moved"),
            format!("mv {file} stolen"),
            format!("ln {file} linked && echo x >> linked"),
            format!("ln script.sh {folder}/new"),
            format!("ln -s {folder} way && echo x > way/new"),
            format!("ln -s {file} through && echo x >> through"),
            format!("cd {folder} && echo x > new"),
            format!("echo x > /proc/self/root{folder}/new"),
            format!("echo x > \"$(pwd | sed 's#[^/]*#..#g')\"{folder}/new"),
            format!("touch {file}"),
            format!("touch -d 2001-01-01 {file}"),
            format!("chmod 600 {file}"),
            format!("truncate -s 0 {file}"),
            format!("cp script.sh {folder}/new"),
            format!("echo x | tee {file}"),
            format!("dd if=/dev/zero of={file} bs=1 count=1"),
        ];
        let calls: Vec<_> = attempts
            .iter()
            .flat_map(|attempt| script(attempt))
            .collect();
        let run = run(session(&calls), &["--json", "--confinement", plan]);
        assert_eq!(run.status, Some(0), "{run:?}");
        outside.expect_unharmed(plan);
    }
}

#[test]
fn nothing_outside_the_scratch_copy_is_read() {
    for plan in confinements() {
        let outside = Outside::new();
        let file = outside.file();
        let file = file.display();
        let text = format!(
            "cat {file}\nln -s {file} link\ncat link\ncat < {file}\nls {}\nln {file} hard && cat hard\ncat /proc/*/environ",
            outside.folder.path().display()
        );
        let mut calls = script(&text).to_vec();
        calls.push(json!({"tool": "read", "path": "link"}));
        calls.extend(script("cat /etc/shadow /etc/hostname /root/* /home/*/.*"));
        let mut command = example();
        command
            .args(["-", "--json", "--confinement", plan])
            .env("FROM_OUTSIDE", CONTENT);
        let run = finish(&mut command, session(&calls).as_bytes());
        assert!(!run.stdout.contains(CONTENT), "{plan}: {run:?}");
        let last = run.last();
        assert_eq!(last["status"], "failed", "{plan}: {last}");
        for line in last["output"].as_str().expect("output").lines() {
            assert!(line.starts_with("cat: "), "{plan}: a file was read: {line}");
        }
    }
}

#[test]
fn the_tools_do_not_follow_links_out_of_the_project() {
    for plan in &with_and_without_confinement() {
        let outside = Outside::new();
        let text = format!(
            "ln -s {} way\nln -s ../home up\n",
            outside.folder.path().display()
        );
        let mut calls = script(&text).to_vec();
        calls.extend([
            json!({"tool": "read", "path": "way/file"}),
            json!({"tool": "write", "path": "way/new", "text": "x"}),
            json!({"tool": "write", "path": "way/new/deep", "text": "x"}),
            json!({"tool": "write", "path": "way/file", "text": "x"}),
            json!({"tool": "edit", "path": "way/file", "old": CONTENT, "new": "x"}),
            json!({"tool": "write", "path": "up/new", "text": "x"}),
        ]);
        let run = run(session(&calls), &[&["--json"], &plan[..]].concat());
        let records = run.calls();
        assert_eq!(
            records[2]["output"], "the path leads out of the project\n",
            "{}",
            records[2]
        );
        assert_eq!(records[2]["status"], "failed");
        for record in &records[3..] {
            assert_eq!(record["by"], "scope-enforcement", "{record}");
            assert_eq!(record["status"], "not_run");
        }
        outside.expect_unharmed("the tools");
    }
}

#[test]
fn a_confined_call_cannot_connect_to_a_network_port() {
    if !has_program("bash", "connections") {
        return;
    }
    for plan in confinements() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        listener
            .set_nonblocking(true)
            .expect("a listener that does not wait");
        let port = listener.local_addr().expect("an address").port();
        let text = format!(
            "echo x > /dev/tcp/127.0.0.1/{port} && echo connected\necho x > /dev/udp/127.0.0.1/{port} && echo sent\n"
        );
        let run = run(session(&script(&text)), &["--json", "--confinement", plan]);
        let last = run.last();
        assert_eq!(last["status"], "failed", "{plan}: {last}");
        let output = last["output"].as_str().expect("output");
        assert!(
            !output.contains("connected\n") && !output.contains("sent\n"),
            "{plan}: {output}"
        );
        assert!(listener.accept().is_err(), "{plan}: a call connected");
    }
}

#[test]
fn a_confined_call_cannot_connect_to_a_local_socket() {
    if !has_program("perl", "local sockets") {
        return;
    }
    for plan in confinements() {
        let folder = folder();
        let socket = folder.path().join("service");
        let listener = UnixListener::bind(&socket).expect("a listener");
        listener
            .set_nonblocking(true)
            .expect("a listener that does not wait");
        open_to_all_users(&socket, 0o777);
        let text = format!(
            "perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un(\"{}\")) && print \"connected\"'",
            socket.display()
        );
        let run = run(session(&script(&text)), &["--json", "--confinement", plan]);
        assert_eq!(run.last()["output"], "", "{plan}");
        assert!(listener.accept().is_err(), "{plan}: a call connected");
    }
}

#[test]
fn the_environment_is_scrubbed() {
    for plan in &with_and_without_confinement() {
        let mut command = example();
        command.args(["-", "--json"]).args(plan);
        for name in [
            "API_SECRET",
            "LD_AUDIT_X",
            "BASH_ENV_X",
            "SSH_AUTH_SOCK",
            "GIT_DIR",
        ] {
            command.env(name, CONTENT);
        }
        let run = finish(&mut command, session(&[bash("env")]).as_bytes());
        let output = run.last()["output"].as_str().expect("output").to_owned();
        assert!(!run.stdout.contains(CONTENT), "{output}");
        for line in output.lines() {
            let name = line.split('=').next().unwrap_or_default();
            let is_ours = [
                "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TERM", "TZ", "PAGER", "EDITOR",
            ]
            .contains(&name);
            let is_shells = ["PWD", "OLDPWD", "SHLVL", "_"].contains(&name);
            assert!(is_ours || is_shells || name.starts_with("GIT_"), "{line}");
        }
    }
}

#[test]
fn open_files_are_not_inherited() {
    for plan in confinements() {
        let outside = Outside::new();
        let mut command = std::process::Command::new("sh");
        command
            .arg("-c")
            .arg("exec 9>>\"$1\"; exec \"$2\" - --json --confinement \"$3\"")
            .arg("sh")
            .arg(outside.file())
            .arg(example().get_program())
            .arg(plan);
        let run = finish(&mut command, session(&script("echo leaked >&9")).as_bytes());
        assert_eq!(run.last()["status"], "failed", "{plan}: {run:?}");
        outside.expect_unharmed(plan);
    }
}

#[test]
fn a_confined_call_cannot_signal_processes_outside() {
    for plan in confinements() {
        let text = format!("kill -0 {pid} || kill -9 {pid}", pid = std::process::id());
        let run = run(session(&script(&text)), &["--json", "--confinement", plan]);
        let last = run.last();
        // In a new namespace, the process number may be unused.
        assert_eq!(last["status"], "failed", "{plan}: {last}");
    }
}

#[test]
fn a_confined_call_cannot_remove_its_restrictions() {
    for plan in confinements() {
        for attempt in [
            "unshare --user --map-root-user true",
            "unshare --mount true",
            "mount -t tmpfs none .",
            "mount -o remount,rw /",
            "chroot . true",
            "su -c true",
            "mknod device b 8 0",
        ] {
            let run = run(
                session(&script(attempt)),
                &["--json", "--confinement", plan],
            );
            assert_eq!(run.last()["status"], "failed", "{plan}: {attempt}: {run:?}");
        }
    }
}

#[test]
fn ordinary_work_in_the_scratch_copy_succeeds() {
    let work = "set -e
        echo one > a; cp a b; mv b c; mkdir -p d/e; mv c d/e; ln -s a l; rm a
        sed -i s/one/two/ d/e/c; touch new; find . -name new | grep -q new
        printf '%s' \"$(cat d/e/c)\" > /dev/null; echo note > /dev/stderr
        echo x > \"$HOME/x\"; echo x > \"$TMPDIR/x\"; cat < /dev/zero | head -c 3 | wc -c
        sh -c 'exit 0'; (sleep 0.01 & wait); rm -r d";
    for plan in confinements() {
        let run = run(session(&script(work)), &["--json", "--confinement", plan]);
        let last = run.last();
        assert_eq!(last["status"], "succeeded", "{plan}: {last}");
    }
}

#[test]
fn the_report_names_the_confinement() {
    for plan in confinements() {
        let report = run(session(&[bash("ls")]), &["--json", "--confinement", plan]).report();
        assert_eq!(report["confinement"]["plan"], *plan);
        assert_eq!(report["confinement"]["active"], true);
        assert_eq!(
            report["confinement"]["landlock_abi"].is_null(),
            !plan.contains("landlock")
        );
    }
    let without = run(session(&[bash("ls")]), &["--json", "--no-sandbox"]).report();
    assert_eq!(without["confinement"]["active"], false);
    assert_eq!(without["confinement"]["plan"], Value::from("none"));
}

const CONTENT: &str = "a-text-that-occurs-nowhere-else";

/// A folder with a world-writable file: only the confinement protects it.
struct Outside {
    folder: tempfile::TempDir,
    time: SystemTime,
}

impl Outside {
    fn new() -> Self {
        let folder = folder();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let outside = Self { folder, time };
        fs::write(outside.file(), CONTENT).expect("a file");
        open_to_all_users(&outside.file(), 0o666);
        let file = File::options()
            .write(true)
            .open(outside.file())
            .expect("the file");
        file.set_modified(time).expect("a time");
        outside
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("file")
    }

    fn expect_unharmed(&self, by: &str) {
        let names: Vec<_> = fs::read_dir(self.folder.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, ["file"], "{by}");
        assert_eq!(
            fs::read_to_string(self.file()).expect("the file"),
            CONTENT,
            "{by}"
        );
        let metadata = fs::metadata(Path::new(&self.file())).expect("the file");
        assert_eq!(metadata.mode() & 0o777, 0o666, "{by}");
        assert_eq!(metadata.nlink(), 1, "{by}");
        assert_eq!(metadata.modified().expect("a time"), self.time, "{by}");
    }
}
