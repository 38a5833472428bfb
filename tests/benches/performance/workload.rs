//! The work that every contender does: look for words in a prompt.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Of the usual length of an instruction to an agent: a hook takes some 15 ns for it.
pub(crate) const PROMPT: &str = "\
    Summarise the incident report of last night for the on-call team: name the services that \
    were affected, the first sign of trouble and the first sign of recovery in each of them, and \
    what was changed between the two. Leave out the names of customers. Quote log lines only \
    where they show the cause, and keep each quote to one line. End with the three questions \
    that the review on Monday should answer, in the order in which you would ask them.";

/// One word that a prompt must not contain.
#[derive(Clone, Copy)]
pub(crate) struct Word(&'static str);

impl Word {
    /// For hooks that are functions, which cannot store a word.
    pub(crate) const FIRST: Word = Word("password");

    #[inline(always)]
    pub(crate) fn check(&self, prompt: &str) -> Result<(), String> {
        if prompt.contains(self.0) {
            Err(self.0.to_owned())
        } else {
            Ok(())
        }
    }
}

/// Returns the hooks of a case; none of the words is in the prompt.
pub(crate) fn words<const N: usize>() -> [Word; N] {
    const WORDS: [&str; 16] = [
        "password",
        "secret",
        "token=",
        "api_key",
        "BEGIN RSA",
        "sk-live",
        "ghp_",
        "AKIA",
        "passwd",
        "bearer ",
        "credential",
        "private key",
        "ssh-rsa",
        "xoxb-",
        "-----BEGIN",
        "wallet",
    ];
    std::array::from_fn(|at| Word(black_box(WORDS[at])))
}

/// Returns a prompt as long as a whole document.
pub(crate) fn long_prompt() -> &'static str {
    Box::leak(PROMPT.repeat(100).into_boxed_str())
}

/// Returns the slots' default.
#[inline]
pub(crate) fn default(prompt: &str) -> Result<(), String> {
    if prompt.is_empty() {
        Err("empty".to_owned())
    } else {
        Ok(())
    }
}

/// Runs a future whose waits end without another task. The first poll is separate, as it is when a
/// future is awaited.
#[inline(always)]
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(answer) => answer,
        Poll::Pending => go_on(future),
    }
}

#[cold]
#[inline(never)]
fn go_on<T>(mut future: Pin<&mut impl Future<Output = T>>) -> T {
    loop {
        let mut cx = Context::from_waker(Waker::noop());
        if let Poll::Ready(answer) = future.as_mut().poll(&mut cx) {
            return answer;
        }
    }
}
