//! How do independent modules combine their hooks?
//!
//! Each module builds a set, and `extend` appends it. A later singleton hook replaces an earlier
//! one and logs a warning.

use hooks_core::{hooks, impl_hook};

#[hooks]
trait PageHooks {
    /// Returns the text of a page.
    #[hook(always)]
    async fn render(text: &str) -> String {
        text.to_owned()
    }

    /// Returns the language of a page.
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
    // The extended hook runs last and sees the output of all others.
    let hooks = hooks.with_extended(PageHooksSet::new().with_render(Paragraph));

    let page = hooks.render("<<Ja>> -- sagte sie").await;
    let language = hooks.language().await;
    println!("{language}: {page}");
    assert_eq!(page, "<p>„Ja“ – sagte sie</p>");
    assert_eq!(language, "de");
}
