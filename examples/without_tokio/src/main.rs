//! How do hooks run in a program without tokio, and on one thread?
//!
//! `hooks-core` starts nothing and waits for nothing by itself: a dispatch is a future, and
//! whatever polls futures runs it. Here it is a pool of tasks on the main thread. A hook may
//! wait, too, as long as something wakes it: here it waits for another task of the same thread.

use std::sync::Mutex;

use futures_channel::oneshot;
use futures_executor::{LocalPool, block_on};
use futures_util::task::LocalSpawnExt as _;
use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
trait PublishHooks {
    /// The text as it is published.
    #[hook(always)]
    async fn prepare(text: &str) -> String {
        text.to_owned()
    }

    /// Whether it is.
    #[hook(singleton)]
    async fn approve(_text: &str) -> bool {
        true
    }
}

#[impl_hook(Prepare)]
async fn one_line(text: &str, last: Option<String>) -> String {
    let text = last.unwrap_or_else(|| text.to_owned());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asks somebody, and waits for the answer.
struct Editor {
    asked: Mutex<Option<oneshot::Sender<String>>>,
    answer: Mutex<Option<oneshot::Receiver<bool>>>,
}

#[impl_hooks(PublishHooksSet)]
impl PublishHooks for Editor {
    async fn approve(&self, text: &str) -> bool {
        let asked = self.asked.lock().unwrap().take();
        let answer = self.answer.lock().unwrap().take();
        let (Some(asked), Some(answer)) = (asked, answer) else {
            // The editor is asked once.
            return false;
        };
        println!("the hook waits");
        // An editor who has left means no.
        asked.send(text.to_owned()).is_ok() && answer.await.unwrap_or(false)
    }
}

async fn publish(hooks: &PublishHooksSet<'_>, text: &str) {
    let text = hooks.prepare(text).await;
    let verdict = if hooks.approve(&text).await {
        "published"
    } else {
        "kept back"
    };
    println!("{verdict}: {text}");
}

fn main() {
    // Where nothing else goes on, one dispatch at a time.
    let hooks = PublishHooksSet::new().with_prepare(OneLine);
    block_on(publish(&hooks, "two\nlines"));

    // Several tasks take turns on this thread: while the hook waits, the other one runs.
    let (asked, question) = oneshot::channel();
    let (reply, answer) = oneshot::channel();
    let hooks = hooks.with_hooks(Editor {
        asked: Mutex::new(Some(asked)),
        answer: Mutex::new(Some(answer)),
    });
    let mut pool = LocalPool::new();
    let editor = async move {
        let text: String = question.await.expect("the hook asks");
        println!("the editor reads: {text}");
        reply
            .send(text.ends_with('.'))
            .expect("the hook waits for it");
    };
    pool.spawner()
        .spawn_local(editor)
        .expect("the pool is there");
    pool.run_until(async {
        publish(&hooks, "a  whole sentence.").await;
        publish(&hooks, "and another").await;
    });
}
