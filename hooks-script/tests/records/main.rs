//! Tests of persistent state: consents, the history of runs, and sources.

mod consent;
mod history;
#[cfg(feature = "sqlite")]
mod killed;
#[cfg(feature = "metrics")]
mod metric;
mod pins;
#[cfg(feature = "fetch")]
mod server;
mod sources;
#[cfg(all(feature = "fetch", target_os = "linux"))]
mod tls;
#[cfg(feature = "fetch")]
mod urls;

use hooks_script::{ConsentStore, Manifest, RunHistory, ScriptEngine, ScriptHook, Versions};

/// Stores of one kind: in memory and, with the feature, in a database.
struct Stores {
    consents: Vec<ConsentStore>,
    histories: Vec<RunHistory>,
    versions: Vec<Versions>,
    #[cfg(feature = "sqlite")]
    database: hooks_script::Database,
    #[cfg(feature = "sqlite")]
    folder: tempfile::TempDir,
}

impl Stores {
    async fn new() -> Self {
        let capacity = std::num::NonZeroUsize::new(1000).unwrap();
        #[cfg(feature = "sqlite")]
        let folder = tempfile::tempdir().unwrap();
        #[cfg(feature = "sqlite")]
        let database = hooks_script::Database::open(folder.path().join("records.db"))
            .await
            .unwrap();
        Stores {
            consents: vec![
                ConsentStore::in_memory(),
                #[cfg(feature = "sqlite")]
                ConsentStore::sqlite(&database),
            ],
            histories: vec![
                RunHistory::in_memory(capacity),
                #[cfg(feature = "sqlite")]
                RunHistory::sqlite(&database),
            ],
            versions: vec![
                Versions::in_memory(),
                #[cfg(feature = "sqlite")]
                Versions::sqlite(&database),
            ],
            #[cfg(feature = "sqlite")]
            database,
            #[cfg(feature = "sqlite")]
            folder,
        }
    }

    /// Returns the bytes of the database files, including unreferenced pages.
    #[cfg(feature = "sqlite")]
    fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files
            .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .collect()
    }
}

const HOOK: &str = "https://example.org/hook.js";

fn hook(engine: &ScriptEngine, code: &str) -> ScriptHook {
    engine
        .register(Manifest::new(HOOK, "Hook", []).unwrap(), code)
        .unwrap()
}
