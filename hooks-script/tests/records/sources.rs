//! Texts and files as sources, and their stored versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use hooks_script::{Freshness, Source, SourceError, Sources};
use jiff::Timestamp;

use crate::Stores;

const ONE: &str = "export default () => ({ out: { version: 1 } });";
const TWO: &str = "export default () => ({ out: { version: 2 } });";

#[tokio::test]
async fn every_version_is_stored_with_its_hash_and_times() {
    for versions in Stores::new().await.versions {
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let time = |second| Timestamp::from_second(second).unwrap();
        let sources = Sources::new(versions.clone()).clock(move || time(clock.load(SeqCst)));
        let mut hashes = Vec::new();
        for (second, code) in [(1, ONE), (2, TWO), (3, ONE)] {
            now.store(second, SeqCst);
            let loaded = sources
                .load(&Source::text("hook", code), None)
                .await
                .unwrap();
            assert_eq!((&*loaded.code, loaded.freshness), (code, Freshness::Read));
            assert_eq!(loaded.version.hash.len(), 64);
            hashes.push(loaded.version.hash);
        }
        assert_eq!(hashes[0], hashes[2]);
        let kept = versions.of("text:hook").await.unwrap();
        let kept: Vec<_> = kept
            .iter()
            .map(|v| (&*v.hash, v.first_seen, v.last_seen))
            .collect();
        assert_eq!(
            kept,
            [
                (&*hashes[0], time(1), time(3)),
                (&*hashes[1], time(2), time(2))
            ],
            "{versions:?}"
        );
        assert_eq!(
            versions
                .code("text:hook", &hashes[1])
                .await
                .unwrap()
                .as_deref(),
            Some(TWO)
        );
        assert_eq!(versions.of("text:other").await.unwrap(), []);

        // The last version is kept regardless of its age.
        assert_eq!(versions.forget_before(time(100)).await.unwrap(), 1);
        let kept = versions.of("text:hook").await.unwrap();
        assert_eq!(
            kept.iter().map(|v| &*v.hash).collect::<Vec<_>>(),
            [&*hashes[0]]
        );
    }
}

#[tokio::test]
async fn a_pinned_load_returns_the_pinned_version_or_an_error() {
    for versions in Stores::new().await.versions {
        let sources = Sources::new(versions);
        let one = sources
            .load(&Source::text("hook", ONE), None)
            .await
            .unwrap()
            .version
            .hash;
        let kept = sources
            .load(&Source::text("hook", TWO), Some(&one))
            .await
            .unwrap();
        assert_eq!((&*kept.code, kept.freshness), (ONE, Freshness::Pinned));
        let error = sources
            .load(&Source::text("hook", TWO), Some("0"))
            .await
            .unwrap_err();
        assert!(
            matches!(error, SourceError::Pinned { expected, found } if expected == "0" && found != one)
        );
        // A version of another source does not match the pin.
        let error = sources.load(&Source::text("other", TWO), Some(&one)).await;
        assert!(matches!(error, Err(SourceError::Pinned { .. })));
    }
}

#[tokio::test]
async fn a_url_source_never_loads_stored_versions_of_files_or_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hook.js");
    std::fs::write(&path, ONE).unwrap();
    for versions in Stores::new().await.versions {
        let sources = Sources::new(versions);
        for source in [Source::file(&path), Source::text("hook", ONE)] {
            let hash = sources.load(&source, None).await.unwrap().version.hash;
            let url = Source::url(source.to_string());
            assert!(sources.load(&url, Some(&hash)).await.is_err());
            assert_eq!(
                sources.last_good(&url).await.unwrap().map(|it| it.code),
                None
            );
        }
    }
}

#[tokio::test]
async fn the_largest_size_limit_does_not_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::file(folder.path().join("hook.js"));
    std::fs::write(folder.path().join("hook.js"), ONE).unwrap();
    let sources = Sources::new(hooks_script::Versions::in_memory()).max_bytes(usize::MAX);
    assert_eq!(sources.load(&source, None).await.unwrap().code, ONE);
}

#[tokio::test]
async fn a_source_that_is_too_large_not_text_or_missing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hook.js");
    for versions in Stores::new().await.versions {
        let sources = Sources::new(versions).max_bytes(ONE.len());
        let source = Source::file(&path);
        std::fs::write(&path, ONE).unwrap();
        assert_eq!(sources.load(&source, None).await.unwrap().code, ONE);

        std::fs::write(&path, format!("{ONE} ")).unwrap();
        let limit = ONE.len();
        let error = sources.load(&source, None).await.unwrap_err();
        assert!(
            matches!(error, SourceError::TooLarge { limit: l } if l == limit),
            "{error}"
        );
        let error = sources
            .load(&Source::text("t", format!("{ONE} ")), None)
            .await
            .unwrap_err();
        assert!(
            matches!(error, SourceError::TooLarge { limit: l } if l == limit),
            "{error}"
        );

        std::fs::write(&path, b"\xff").unwrap();
        assert!(matches!(
            sources.load(&source, None).await,
            Err(SourceError::NotText)
        ));
        // The previous version is still stored.
        assert_eq!(sources.last_good(&source).await.unwrap().unwrap().code, ONE);

        assert!(matches!(
            sources.load(&Source::file(folder.path()), None).await,
            Err(SourceError::File { .. })
        ));
        let nowhere = Source::file(folder.path().join("nowhere.js"));
        assert!(matches!(
            sources.load(&nowhere, None).await,
            Err(SourceError::File { .. })
        ));
        assert!(sources.last_good(&nowhere).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn loading_a_url_without_a_fetcher_is_an_error() {
    let sources = Sources::new(hooks_script::Versions::in_memory());
    let error = sources
        .load(&Source::url("https://example.org/hook.js"), None)
        .await
        .unwrap_err();
    assert!(matches!(error, SourceError::NoFetcher));
}
