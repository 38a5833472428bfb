//! How does a hook run only for some calls?
//!
//! `when` adds a filter to an entry. It receives a reference to each argument and is evaluated
//! before anything runs. If no condition holds, the slot behaves as without hooks.

use hooks_core::{Entry, hooks, impl_hook};

#[hooks]
trait UploadHooks {
    #[hook(fallback)]
    async fn store(path: &str, size: usize) -> String {
        format!("local:{path} ({size} bytes)")
    }
}

#[impl_hook(Store)]
async fn in_bucket(path: &str, _size: usize, _last: Option<String>) -> String {
    format!("bucket:{path}")
}

#[impl_hook(Store)]
async fn as_thumbnail(path: &str, _size: usize, last: Option<String>) -> String {
    format!("{} and thumbnails", last.unwrap_or_else(|| path.to_owned()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = UploadHooksSet::new()
        .with_store(Entry::new(InBucket).when(|_: &&str, size: &usize| *size > 1000))
        .with_store(Entry::new(AsThumbnail).when(|path: &&str, _: &usize| path.ends_with(".png")));
    println!("{}", hooks.describe());

    for (path, size, expected) in [
        ("notes.txt", 10, "local:notes.txt (10 bytes)"),
        ("film.mp4", 5000, "bucket:film.mp4"),
        ("logo.png", 10, "logo.png and thumbnails"),
        ("photo.png", 5000, "bucket:photo.png and thumbnails"),
    ] {
        let stored = hooks.store(path, size).await;
        println!("{stored}");
        assert_eq!(stored, expected);
    }
}
