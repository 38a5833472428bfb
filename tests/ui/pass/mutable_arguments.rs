//! `&mut T` in every kind of slot whose hooks run one after the other, beside other arguments, in a
//! public set, with types of other modules and lifetimes of the user's own.

use hooks_core::{Entry, Next, ShortCircuit, Stateful, hooks, impl_hook, impl_hooks};

mod documents {
    #[derive(Default)]
    pub struct Document<T = ()> {
        pub text: String,
        pub with: T,
    }
}

use documents::Document;

#[derive(Clone, Default)]
pub struct Author;

pub struct Stamp<'a>(pub &'a str);

#[hooks]
pub trait Editor {
    #[hook(always, chain = ShortCircuit<(), String>, around)]
    async fn before_save(
        doc: &mut documents::Document<Vec<u8>>,
        path: &str,
        author: Author,
        stamp: &Stamp<'_>,
        compare: for<'l> fn(&'l str) -> &'l str,
    ) -> Result<(), String> {
        doc.text.push_str(compare(path));
        std::future::ready(()).await;
        let _ = (author, stamp);
        Ok(())
    }

    #[hook(fallback)]
    async fn lines(lines: &mut [String], r#type: &'_ mut u8) -> usize {
        lines.len()
    }

    #[hook(singleton)]
    async fn format(doc: &mut (Document, Author)) -> bool {
        doc.0.text.clear();
        true
    }
}

struct Plugin;

#[impl_hooks(EditorSet)]
impl Editor for Plugin {
    async fn lines(&self, lines: &mut [String], r#type: &mut u8, last: Option<usize>) -> usize {
        *r#type += 1;
        lines[0].push('x');
        last.unwrap_or(0) + 1
    }

    async fn format(&self, doc: &mut (Document, Author)) -> bool {
        doc.0.text.push('x');
        false
    }
}

#[impl_hook(BeforeSave)]
async fn trim(
    doc: &mut Document<Vec<u8>>,
    _: &str,
    _: Author,
    _: &Stamp<'_>,
    _: for<'l> fn(&'l str) -> &'l str,
) -> Result<(), String> {
    doc.text.truncate(1);
    Ok(())
}

impl StatefulFormat for u8 {
    async fn call_mut(&mut self, doc: &mut (Document, Author)) -> bool {
        *self += 1;
        doc.0.text.is_empty()
    }
}

async fn timed(
    doc: &mut Document<Vec<u8>>,
    path: &str,
    author: Author,
    stamp: &Stamp<'_>,
    compare: for<'l> fn(&'l str) -> &'l str,
    next: Next<'_, dyn BeforeSave>,
) -> Result<(), String> {
    next.call((&mut *doc, path, author, stamp, compare)).await?;
    doc.text.push('!');
    Ok(())
}

pub fn main() {
    let captured = String::from("captured");
    let set = EditorSet::new()
        .with_before_save(Trim)
        .with_before_save(Entry::new(Trim).key("trim"))
        .with_before_save_around(timed)
        .with_lines(async |_: &mut [String], _: &mut u8, last: Option<usize>| last.unwrap_or(7))
        .with_hooks(Plugin)
        .with_format(Stateful::new(0));
    fn is_send<T: Send>(_: &T) {}
    let mut doc = (Document::default(), Author);
    let dispatch = set.format(&mut doc);
    is_send(&dispatch);
    drop(dispatch);
    drop((set.format(&mut doc), &captured));
}
