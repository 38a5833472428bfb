//! Reads a long trail page by page like the console: each page is requested by the time of the last
//! decision of the previous page.

use std::path::Path;
use std::time::{Duration, Instant};

use hooks_guard::audit::AuditStore;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::fill;
use crate::load::Connection;
use crate::process::{self, Server};
use crate::shared::runtime;

pub(crate) const DECISIONS: i64 = 1_000_000;
/// Number of decisions per page.
const ROWS: usize = 50;
/// Number of places of the trail at which a search starts.
const PLACES: i32 = 20;

/// Result of reading with one filter.
pub(crate) struct Read {
    pub(crate) what: &'static str,
    /// Number of decisions shown.
    pub(crate) shown: usize,
    /// Latencies of the pages in ascending order.
    times: Vec<Duration>,
}

impl Read {
    pub(crate) fn pages(&self) -> usize {
        self.times.len()
    }

    /// Returns a percentile of the latency in milliseconds.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let at = ((self.times.len().max(1) - 1) as f64 * share).round() as usize;
        let time = self.times.get(at).copied().unwrap_or_default();
        time.as_secs_f64() * 1e3
    }
}

/// Fills a trail and reads it.
pub(crate) fn of(rows: i64) -> Result<Vec<Read>, String> {
    let folder = process::folder()?;
    filled(&process::trail(folder.path()), rows)?;
    let daemon = Server::daemon(folder.path())?;
    runtime()?.block_on(async {
        let connection = Connection::open(daemon.port).await;
        let mut reader = Reader(connection.map_err(|error| error.to_string())?);
        let everything = reader.all("everything", "").await?;
        if i64::try_from(everything.shown) != Ok(rows) {
            return Err(format!("{} of {rows} were shown", everything.shown));
        }
        Ok(vec![
            everything,
            reader.all("a class", "&classification=DELETE").await?,
            reader
                .here_and_there("a text", "&command_filter=number%20")
                .await?,
        ])
    })
}

fn filled(file: &Path, rows: i64) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let trail = AuditStore::open(&file.display().to_string()).await;
        let trail = trail.map_err(|error| error.to_string())?;
        fill::record(&trail, 0..rows, rows).await;
        trail.close().await;
        Ok(())
    })
}

/// End of a page.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Place(Timestamp, i64);

struct Reader(Connection);

impl Reader {
    /// Reads from the first page to the last.
    async fn all(&mut self, what: &'static str, filter: &str) -> Result<Read, String> {
        let mut read = Read::of(what);
        let mut before = None;
        while let Some(place) = self.page(filter, before, &mut read).await? {
            before = Some(place);
        }
        read.times.sort_unstable();
        Ok(read)
    }

    /// Reads one page at each of several places, from the newest to the oldest.
    async fn here_and_there(&mut self, what: &'static str, filter: &str) -> Result<Read, String> {
        let mut read = Read::of(what);
        for place in 0..PLACES {
            // The trail covers ninety days.
            let ago = SignedDuration::from_hours(90 * 24) / PLACES * place;
            let before = Some(Place(Timestamp::now() - ago, i64::MAX));
            self.page(filter, before, &mut read).await?;
        }
        read.times.sort_unstable();
        Ok(read)
    }

    /// Reads a page with the request that `trail.js` sends. Returns its end if there are more
    /// pages.
    async fn page(
        &mut self,
        filter: &str,
        before: Option<Place>,
        read: &mut Read,
    ) -> Result<Option<Place>, String> {
        let began = Instant::now();
        let (until, again) = match before {
            // The last decision shown is returned again, because others may have an equal time.
            Some(Place(at, _)) => {
                let until = at + SignedDuration::from_micros(1);
                (format!("&until={until}"), 1)
            }
            None => (String::new(), 0),
        };
        let limit = ROWS + 1 + again;
        let path = format!("/api/hooks/decisions?limit={limit}{filter}{until}");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let status = self.0.exchange(request.as_bytes()).await;
        let status = status.map_err(|error| error.to_string())?;
        read.times.push(began.elapsed());
        let body: Value =
            serde_json::from_slice(self.0.body()).map_err(|error| error.to_string())?;
        let found = body["decisions"].as_array();
        let found = found.ok_or_else(|| format!("{path}: status {status}: {body}"))?;
        let places: Result<Vec<Place>, String> = found.iter().map(place).collect();
        let mut places = places?;
        places.retain(|place| before.is_none_or(|before| *place < before));
        let more = places.len() > ROWS;
        places.truncate(ROWS);
        read.shown += places.len();
        Ok(places.last().copied().filter(|_| more))
    }
}

impl Read {
    fn of(what: &'static str) -> Self {
        Self {
            what,
            shown: 0,
            times: Vec::new(),
        }
    }
}

fn place(record: &Value) -> Result<Place, String> {
    let at = record["timestamp"].as_str().and_then(|at| at.parse().ok());
    let place = at.zip(record["id"].as_i64());
    let (at, id) = place.ok_or_else(|| format!("no decision: {record}"))?;
    Ok(Place(at, id))
}

pub(crate) fn shown(rows: i64) -> Result<(), String> {
    for read in of(rows)? {
        println!(
            "{}: {} decisions on {} pages, median {:.1} ms, p99 {:.1} ms, slowest {:.1} ms",
            read.what,
            read.shown,
            read.pages(),
            read.share(0.5),
            read.share(0.99),
            read.share(1.0),
        );
    }
    Ok(())
}
