//! A PostgreSQL server in a temporary folder, deleted after the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use tempfile::TempDir;

/// A running server.
pub(crate) struct Cluster {
    server: Child,
    folder: TempDir,
    port: u16,
}

/// User id of the server if the test runs as root, which PostgreSQL refuses.
const NOBODY: u32 = 65534;

impl Cluster {
    /// Returns `None`, and prints why, if PostgreSQL is not installed; panics if all tests must
    /// run.
    pub(crate) fn start() -> Option<Self> {
        let Some(binaries) = binaries() else {
            let required = env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(
                !required,
                "PostgreSQL is not installed, and everything has to be tested"
            );
            eprintln!("skipped: no `initdb` in PATH or /usr/lib/postgresql/*/bin");
            return None;
        };
        let folder = TempDir::with_prefix("hooks-guard-pg").expect("a folder");
        let root = is_root();
        if root {
            std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("chown");
        }
        let data = folder.path().join("data");
        let made = as_unprivileged_user(&binaries.join("initdb"), root, folder.path())
            .args([
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--username=guard",
                "--no-sync",
            ])
            .arg("--pgdata")
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        Some(Self::serve(&binaries, folder))
    }

    /// Starts a server on the data in the folder.
    fn serve(binaries: &Path, folder: TempDir) -> Self {
        let (root, data) = (is_root(), folder.path().join("data"));
        // Only the socket is open: the port is part of its name.
        let port = 5432;
        let log = fs::File::create(folder.path().join("log")).expect("a file");
        let server = as_unprivileged_user(&binaries.join("postgres"), root, folder.path())
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args([
                "-p",
                &port.to_string(),
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=200",
                // The tests kill processes and never the machine, so that no write has to reach the
                // disk.
                "-c",
                "fsync=off",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("postgres runs");
        let cluster = Self {
            server,
            folder,
            port,
        };
        let socket = cluster.folder.path().join(format!(".s.PGSQL.{port}"));
        for _ in 0..600 {
            if socket.exists() && cluster.psql("postgres", "SELECT 1").is_some() {
                return cluster;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let log = fs::read_to_string(cluster.folder.path().join("log")).unwrap_or_default();
        panic!("PostgreSQL does not start: {log}");
    }

    /// Starts a standby with the current data of this server, which it follows.
    #[allow(dead_code, reason = "for the tests of failover")]
    pub(crate) fn standby(&self) -> Self {
        let binaries = binaries().expect("it was started");
        let folder = TempDir::with_prefix("hooks-guard-pg").expect("a folder");
        let root = is_root();
        if root {
            std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("chown");
        }
        let made = as_unprivileged_user(&binaries.join("pg_basebackup"), root, folder.path())
            .arg("-h")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string(), "-U", "guard"])
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"])
            .arg("--pgdata")
            .arg(folder.path().join("data"))
            .output()
            .expect("pg_basebackup runs");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        Self::serve(&binaries, folder)
    }

    /// Returns the folder of the socket, for use in addresses.
    #[allow(dead_code, reason = "for the tests of failover")]
    pub(crate) fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates an empty database and returns its address.
    pub(crate) fn database(&self) -> String {
        self.made("template1")
    }

    /// Copies a database that is not open and returns the address of the copy.
    pub(crate) fn copy(&self, of: &str) -> String {
        self.made(of)
    }

    fn made(&self, template: &str) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let name = format!("trail{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let _guard = ONE_AT_A_TIME.lock();
        self.psql(
            "postgres",
            &format!("CREATE DATABASE {name} TEMPLATE {template}"),
        )
        .expect("a database");
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://guard@{host}:{}/{name}", self.port)
    }

    /// Returns a command for another PostgreSQL program.
    #[allow(dead_code, reason = "for the tests of several instances")]
    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(binaries().expect("it was started").join(name))
    }

    /// Runs SQL on a connection outside the trail.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> Option<String> {
        let done = Command::new(binaries()?.join("psql"))
            .arg("-h")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string(), "-U", "guard", "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql])
            .output()
            .ok()?;
        done.status
            .success()
            .then(|| String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Immediate shutdown: the data is deleted anyway.
        let pid = fs::read_to_string(self.folder.path().join("data/postmaster.pid"));
        let pid = pid
            .ok()
            .and_then(|text| text.lines().next().map(str::to_owned));
        if let Some(pid) = pid {
            let _ = Command::new("kill").args(["-QUIT", &pid]).status();
        }
        let _ = self.server.wait();
    }
}

fn binaries() -> Option<PathBuf> {
    let in_path = env::var_os("PATH")
        .into_iter()
        .flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let installed = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    installed.chain(in_path).find(|folder| {
        ["initdb", "postgres", "psql"]
            .iter()
            .all(|name| folder.join(name).exists())
    })
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|of| of.uid() == 0)
}

fn as_unprivileged_user(program: &Path, root: bool, folder: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
        .current_dir(folder)
        .env_remove("PGDATA")
        .env("HOME", folder);
    command
}
