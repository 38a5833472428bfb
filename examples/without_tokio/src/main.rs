//! How do hooks run without an async runtime, on one thread?
//!
//! `hooks-core` spawns no tasks and blocks no threads: a dispatch is a future, and any executor can
//! poll it. Here it is a pool of tasks on the main thread. A hook may await anything that wakes it:
//! here it awaits another task of this thread.

use std::sync::Mutex;

use futures_channel::oneshot;
use futures_executor::{LocalPool, block_on};
use futures_util::task::LocalSpawnExt as _;
use hooks_core::{hooks, impl_hook, impl_hooks};

#[hooks]
trait PublishHooks {
    /// Returns the text to publish.
    #[hook(always)]
    async fn prepare(text: &str) -> String {
        text.to_owned()
    }

    /// Returns `true` to publish the text.
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

/// Sends the text to an editor and awaits the answer.
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
        // If the editor has left, the answer is no.
        asked.send(text.to_owned()).is_ok() && answer.await.unwrap_or(false)
    }
}

async fn publish(hooks: &PublishHooksSet<'_>, text: &str) {
    let text = hooks.prepare(text).await;
    let verdict = if hooks.approve(&text).await {
        "published"
    } else {
        "not published"
    };
    println!("{verdict}: {text}");
}

fn main() {
    // Without other work, run one dispatch at a time.
    let hooks = PublishHooksSet::new().with_prepare(OneLine);
    block_on(publish(&hooks, "two\nlines"));

    // Tasks take turns on this thread: while the hook awaits, the other task runs.
    let (asked, question) = oneshot::channel();
    let (reply, answer) = oneshot::channel();
    let hooks = hooks.with_hooks(Editor {
        asked: Mutex::new(Some(asked)),
        answer: Mutex::new(Some(answer)),
    });
    let mut pool = LocalPool::new();
    let editor = async move {
        let text: String = question.await.expect("the hook asks");
        println!("the editor received: {text}");
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
