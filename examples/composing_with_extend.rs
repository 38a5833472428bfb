//! How do modules that know nothing of each other bring their hooks together?
//!
//! Each builds a set of its own; `extend` appends them. Of a singleton the one
//! that comes last stands, and a warning is logged.

use hooks_core::{hooks, impl_hook};

#[hooks]
trait PageHooks {
    /// The text of a page.
    #[hook(always)]
    async fn render(text: &str) -> String {
        text.to_owned()
    }

    /// The language of a page.
    #[hook(singleton)]
    async fn language() -> &'static str {
        "en"
    }
}

mod typography {
    use super::{PageHooksSet, Render, impl_hook};

    #[impl_hook(Render)]
    async fn dashes(text: &str, last: Option<String>) -> String {
        last.unwrap_or_else(|| text.to_owned()).replace("--", "–")
    }

    pub(super) fn hooks() -> PageHooksSet<'static> {
        PageHooksSet::new().with_render(Dashes)
    }
}

mod german {
    use super::{Language, PageHooksSet, Render, impl_hook};

    #[impl_hook(Render)]
    async fn quotes(text: &str, last: Option<String>) -> String {
        last.unwrap_or_else(|| text.to_owned())
            .replace("<<", "„")
            .replace(">>", "“")
    }

    #[impl_hook(Language)]
    async fn german() -> &'static str {
        "de"
    }

    pub(super) fn hooks() -> PageHooksSet<'static> {
        PageHooksSet::new()
            .with_render(Quotes)
            .with_language(German)
    }
}

#[impl_hook(Render)]
async fn paragraph(text: &str, last: Option<String>) -> String {
    format!("<p>{}</p>", last.unwrap_or_else(|| text.to_owned()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut hooks = typography::hooks();
    hooks.extend(german::hooks());
    // What comes last sees what all the others have made of the text.
    let hooks = hooks.with_extended(PageHooksSet::new().with_render(Paragraph));

    let page = hooks.render("<<Ja>> -- sagte sie").await;
    let language = hooks.language().await;
    println!("{language}: {page}");
    assert_eq!(page, "<p>„Ja“ – sagte sie</p>");
    assert_eq!(language, "de");
}
