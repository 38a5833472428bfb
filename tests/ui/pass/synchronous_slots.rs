//! Synchronous slots and slots that move a value: with parameters named like generated locals, named
//! lifetimes, types of other modules, conditional slots, attributes, and in sets that are nested.

#![deny(unused, nonstandard_style, private_interfaces, private_bounds)]

use std::ops::ControlFlow;

use hooks_core::{
    Entry, Next, Stateful, SyncAggregateInto, SyncChain, SyncFinalizeInto, hooks, impl_hook,
    impl_hooks, run_now,
};

mod documents {
    #[derive(Default)]
    pub struct Document<T = ()> {
        pub text: String,
        pub with: T,
    }
}
use documents::Document;

pub struct Stamp<'a>(pub &'a str);

#[derive(Default)]
pub struct Longer;

impl SyncChain<Vec<u8>> for Longer {
    fn call(&self, output: &Vec<u8>) -> ControlFlow<()> {
        if output.len() > 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<T: Send> SyncAggregateInto<Vec<T>, usize> for Longer {
    fn call(&self, outputs: Vec<Vec<T>>) -> usize {
        outputs.into_iter().map(|output| output.len()).sum()
    }
}

impl SyncFinalizeInto<String, char> for Longer {
    fn call(&self, result: String) -> char {
        result.chars().next().unwrap_or('?')
    }
}

pub mod inner {
    use super::*;

    #[hooks]
    pub(crate) trait InnerHooks {
        #[hook(singleton, sync, name = InnerRun)]
        fn run(r#type: u8) -> u8 {
            r#type
        }
    }
}

#[hooks]
#[nested_hooks(inner = inner::InnerHooksSet)]
pub(crate) trait AppHooks {
    /// Takes names of generated locals.
    #[hook(always, sync, chain = Longer, aggregate = Longer, output = usize)]
    #[must_use]
    fn gather(hook: &str, args: u8, value: &u8, is_ready: bool, started: &Stamp<'_>) -> Vec<u8> {
        if is_ready {
            return vec![args, *value];
        }
        vec![hook.len() as u8, started.0.len() as u8]
    }

    #[hook(fallback, sync, finalize = Longer, output = char)]
    fn title(start: &[&str], compare: for<'l> fn(&'l str) -> &'l str) -> String {
        start
            .first()
            .copied()
            .map(compare)
            .unwrap_or_default()
            .to_owned()
    }

    #[hook(always, sync)]
    #[deprecated = "use `title`"]
    fn old(doc: &mut Document<Vec<u8>>, names: &mut [String], call: Vec<u8>) {
        doc.with.extend(call);
        if let Some(name) = names.first_mut() {
            name.clear();
        }
    }

    #[cfg(any())]
    #[hook(always, sync)]
    fn left_out(missing: Missing) -> Missing {
        missing
    }

    #[hook(waterfall, sync)]
    fn moved(
        mut call: Box<dyn FnMut() -> u8 + Send>,
        context: &Stamp<'_>,
        others: String,
    ) -> Box<dyn FnMut() -> u8 + Send> {
        let _ = (call(), context.0, others);
        call
    }

    #[hook(waterfall, around)]
    async fn request(
        last_: Document<Box<dyn Iterator<Item = u8> + Send>>,
        of: &str,
    ) -> Result<Document<Box<dyn Iterator<Item = u8> + Send>>, String> {
        if of.is_empty() {
            Err("of".to_owned())
        } else {
            Ok(last_)
        }
    }

    /// An async slot beside the others.
    #[hook(always)]
    async fn waits(text: &str) -> usize {
        text.len()
    }
}

#[impl_hook(Gather)]
fn four(_: &str, args: u8, value: &u8, _is_ready: bool, started: &Stamp<'_>) -> Vec<u8> {
    vec![args, *value, started.0.len() as u8, 0]
}

#[allow(deprecated)]
#[impl_hook(Old)]
fn shout(doc: &mut Document<Vec<u8>>, _: &mut [String], mut call: Vec<u8>) {
    call.clear();
    doc.text.make_ascii_uppercase();
}

#[impl_hook(inner::InnerRun)]
fn double(r#type: u8) -> u8 {
    r#type * 2
}

struct Plugin<'a>(&'a str);

#[impl_hooks(AppHooksSet)]
impl<'a> AppHooks for Plugin<'a> {
    fn title(
        &self,
        start: &[&str],
        _: for<'l> fn(&'l str) -> &'l str,
        last: Option<String>,
    ) -> String {
        format!("{}{}{}", self.0, start.len(), last.unwrap_or_default())
    }

    #[cfg(any())]
    fn left_out(&self, missing: Missing, last: Option<Missing>) -> Missing {
        last.unwrap_or(missing)
    }

    fn moved(
        &self,
        mut call: Box<dyn FnMut() -> u8 + Send>,
        _: &Stamp<'_>,
        others: String,
    ) -> Box<dyn FnMut() -> u8 + Send> {
        let (more, length) = (call(), others.len() as u8);
        Box::new(move || call() + more + length)
    }

    async fn request(
        &self,
        mut request: Document<Box<dyn Iterator<Item = u8> + Send>>,
        of: &str,
    ) -> Result<Document<Box<dyn Iterator<Item = u8> + Send>>, String> {
        std::future::ready(()).await;
        request.text.push_str(of);
        Ok(request)
    }
}

struct Counting(usize);

impl StatefulTitle for Counting {
    fn call_mut(
        &mut self,
        _: &[&str],
        _: for<'l> fn(&'l str) -> &'l str,
        last: Option<String>,
    ) -> String {
        self.0 += 1;
        format!("{}{}", self.0, last.unwrap_or_default())
    }
}

type Call = Box<dyn FnMut() -> u8 + Send>;

#[allow(deprecated)]
pub fn main() {
    let owned = String::from("p");
    let set = AppHooksSet::new()
        .with_gather(Four)
        .with_gather(|_: String, _: u8, _: &u8, _: bool, _: &Stamp<'_>| vec![])
        .with_old(Shout)
        .with_hooks(Entry::new(Plugin(&owned)).key("plugin"))
        .with_title(Stateful::new(Counting(0)))
        .with_moved(|mut call: Call, _: &Stamp<'_>, _: String| {
            call();
            call
        })
        .with_request_around(
            async |request: Document<Box<dyn Iterator<Item = u8> + Send>>,
                   of: &str,
                   next: Next<'_, dyn Request>| { next.call((request, of)).await },
        )
        .with_inner(inner::InnerHooksSet::new().with_run(Double));
    assert_eq!(set.gather("four", 1, &2, true, &Stamp("")), 6);
    assert_eq!(set.title(&["a", "b"], |text| text), '1');
    let mut doc = Document {
        text: "a".to_owned(),
        with: vec![],
    };
    let mut names = ["x".to_owned()];
    set.old(&mut doc, &mut names, vec![1]);
    assert_eq!((&*doc.text, &*doc.with, &*names[0]), ("A", &[1][..], ""));
    let mut count = 0;
    let call: Call = Box::new(move || {
        count += 1;
        count
    });
    let mut moved = set.moved(call, &Stamp("s"), "three".to_owned());
    assert_eq!(moved(), 4 + 1 + 5);
    assert_eq!(set.inner.run(4), 8);
    let request = || Document {
        text: "t".to_owned(),
        with: Box::new(0..3_u8) as Box<dyn Iterator<Item = u8> + Send>,
    };
    assert_eq!(
        run_now(set.request(request(), "of")).unwrap().unwrap().text,
        "tof"
    );
    assert!(run_now(set.request(request(), "")).unwrap().is_err());
    assert_eq!(run_now(set.waits("four")), Ok(4));
}
