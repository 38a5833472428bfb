//! Failures of the connection to a server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hooks_guard::audit::{AuditChange, AuditError, AuditStore};
use hooks_guard::classify::Crud;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use crate::contract::cluster;
use crate::kit::{assert_intact, decision, minute, run};

/// A proxy in front of a database.
struct Detour {
    url: String,
    server: PathBuf,
    gate: Arc<UnixListener>,
    _folder: TempDir,
}

impl Detour {
    fn to(url: &str) -> Self {
        let (start, name) = url.rsplit_once(":5432/").expect("a name");
        let (start, host) = start.split_once('@').expect("a host");
        let socket = ".s.PGSQL.5432";
        let folder = tempfile::tempdir().expect("a folder");
        let gate = UnixListener::bind(folder.path().join(socket)).expect("a socket");
        let here = folder.path().display().to_string().replace('/', "%2F");
        Self {
            url: format!("{start}@{here}:5432/{name}"),
            server: PathBuf::from(host.replace("%2F", "/")).join(socket),
            gate: Arc::new(gate),
            _folder: folder,
        }
    }

    /// Forwards until it is aborted: then connections are cut, and new ones wait.
    fn open(&self) -> JoinHandle<()> {
        let (gate, server) = (self.gate.clone(), self.server.clone());
        tokio::spawn(async move {
            let mut passing = FuturesUnordered::new();
            loop {
                tokio::select! {
                    come = gate.accept() => {
                        let (mut from, _) = come.expect("a connection");
                        let server = &server;
                        passing.push(async move {
                            let mut to = UnixStream::connect(server).await.expect("a server");
                            let _ = copy_bidirectional(&mut from, &mut to).await;
                        });
                    }
                    Some(()) = passing.next() => {}
                }
            }
        })
    }
}

#[test]
fn an_unresponsive_server_is_an_error_until_it_responds() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let detour = Detour::to(&cluster.database());
        let open = detour.open();
        let trail = AuditStore::open(&detour.url).await.expect("a trail");
        let new = decision("ls", Crud::Read, minute(0));
        trail.record(new.clone()).await.expect("recorded");
        open.abort();
        let _ = open.await;
        let (opened, recorded, read) = tokio::join!(
            AuditStore::open(&detour.url),
            trail.record(new.clone()),
            trail.totals(),
        );
        let errors = [
            opened.map(drop).expect_err("no answer"),
            recorded.map(drop).expect_err("no answer"),
            read.map(drop).expect_err("no answer"),
        ];
        for error in errors {
            assert!(matches!(error, AuditError::Unreachable { .. }), "{error:?}");
            assert!(error.to_string().contains("does not respond"), "{error}");
        }
        let _open = detour.open();
        assert_eq!(trail.record(new).await.expect("recorded"), 2);
        assert_intact(&trail).await;
    });
}

#[test]
fn a_change_with_a_lost_notification_is_still_reported() {
    let Some(cluster) = cluster() else { return };
    run(async {
        let url = cluster.database();
        let trail = AuditStore::open(&url).await.expect("a trail");
        let mut change_stream = trail.changes();
        // The entry of a cleanup by a client whose notifications are lost.
        let (_, database) = url.rsplit_once('/').expect("a name");
        let entry = "INSERT INTO log SELECT seq + 1, 6, 0, hash FROM head";
        cluster.psql(database, entry).expect("written");
        let next = tokio::time::timeout(Duration::from_secs(30), change_stream.next()).await;
        assert_eq!(next.expect("in time"), Some(AuditChange::Cleaned));
    });
}
