//! Very many connections at once: each gets a response or is refused; the daemon keeps running.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::load::{Connection, request};
use crate::process::{self, Server};
use crate::shared::runtime;

pub(crate) const CONNECTIONS: usize = 10_000;
/// Timeout of a connection.
const PATIENCE: Duration = Duration::from_secs(120);

/// Result of the test.
pub(crate) struct Crowd {
    /// Number of connections by status or error.
    pub(crate) became: BTreeMap<String, usize>,
    pub(crate) whole: Duration,
    /// If `true`, the daemon still answers afterwards.
    pub(crate) well: bool,
}

pub(crate) fn of(connections: usize) -> Result<Crowd, String> {
    let folder = process::folder()?;
    let mut daemon = Server::daemon(folder.path())?;
    let files = connections + 500;
    process::open_files(std::process::id(), files)?;
    daemon.open_files(files)?;
    let port = daemon.port;
    runtime()?.block_on(async {
        let began = Instant::now();
        let tasks: Vec<_> = (0..connections)
            .map(|number| {
                tokio::spawn(tokio::time::timeout(PATIENCE, async move {
                    Connection::open(port)
                        .await?
                        .exchange(&request(number))
                        .await
                }))
            })
            .collect();
        let mut became = BTreeMap::new();
        for task in tasks {
            let what = match task.await.map_err(|error| error.to_string())? {
                Ok(Ok(status)) => status.to_string(),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            *became.entry(what).or_insert(0) += 1;
        }
        let whole = began.elapsed();
        let mut one_more = Connection::open(port)
            .await
            .map_err(|error| error.to_string())?;
        let status = one_more.exchange(&request(connections)).await;
        Ok(Crowd {
            became,
            whole,
            well: status.is_ok_and(|status| status == 200) && daemon.runs(),
        })
    })
}

pub(crate) fn shown(connections: usize) -> Result<(), String> {
    let crowd = of(connections)?;
    println!(
        "{connections} connections, in {:.1} s:",
        crowd.whole.as_secs_f64()
    );
    for (what, many) in crowd.became {
        println!("  {many:>6}  {what}");
    }
    match crowd.well {
        true => Ok(()),
        false => Err("the daemon no longer responds".to_owned()),
    }
}
