//! Two scripts in, whether they mean the same out: positions are no part of what would run.

use super::{AndOr, Change, Command, Inner, Kind, Piece, Pipeline, Redirect, Script, Word};

impl Script {
    fn means_same(&self, other: &Self) -> bool {
        all(&self.items, &other.items, AndOr::means_same)
    }
}

/// Returns true if two readings of a text mean the same, or both are none.
pub(super) fn is_same(one: Option<&Script>, other: Option<&Script>) -> bool {
    optional(one, other, Script::means_same)
}

/// Returns true if two lists are equally long and their parts mean the same, one by one.
fn all<T>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

fn words(one: &[Word], other: &[Word]) -> bool {
    all(one, other, Word::means_same)
}

fn optional<T>(one: Option<&T>, other: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (None, None) => true,
        _ => false,
    }
}

impl AndOr {
    fn means_same(&self, other: &Self) -> bool {
        let Self {
            first,
            rest,
            background,
        } = self;
        *background == other.background
            && first.means_same(&other.first)
            && all(rest, &other.rest, |(join, one), (other_join, other)| {
                join == other_join && one.means_same(other)
            })
    }
}

impl Pipeline {
    fn means_same(&self, other: &Self) -> bool {
        all(&self.commands, &other.commands, Command::means_same)
    }
}

impl Command {
    pub(crate) fn means_same(&self, other: &Self) -> bool {
        let Self {
            kind,
            redirects,
            span: _,
        } = self;
        kind.means_same(&other.kind) && all(redirects, &other.redirects, Redirect::means_same)
    }
}

impl Kind {
    fn means_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Simple {
                    assigns,
                    words: own,
                },
                Self::Simple {
                    assigns: other_assigns,
                    words: others,
                },
            ) => words(assigns, other_assigns) && words(own, others),
            (Self::Test(one), Self::Test(other)) => one.means_same(other),
            (Self::Group(one), Self::Group(other))
            | (Self::Subshell(one), Self::Subshell(other)) => one.means_same(other),
            (
                Self::For {
                    name,
                    words: own,
                    body,
                },
                Self::For {
                    name: other_name,
                    words: others,
                    body: other_body,
                },
            ) => {
                let same = |one: &Vec<Word>, other: &Vec<Word>| words(one, other);
                name == other_name
                    && optional(own.as_ref(), others.as_ref(), same)
                    && body.means_same(other_body)
            }
            (Self::If(one), Self::If(other)) => all(one, other, Script::means_same),
            (
                Self::While { head, scripts },
                Self::While {
                    head: other_head,
                    scripts: others,
                },
            ) => {
                optional(head.as_ref(), other_head.as_ref(), Word::means_same)
                    && all(scripts, others, Script::means_same)
            }
            (
                Self::Case { subject, arms },
                Self::Case {
                    subject: other_subject,
                    arms: others,
                },
            ) => {
                subject.means_same(other_subject)
                    && all(arms, others, |(patterns, one), (other_patterns, other)| {
                        words(patterns, other_patterns) && one.means_same(other)
                    })
            }
            (
                Self::Function { name, body },
                Self::Function {
                    name: other_name,
                    body: other_body,
                },
            ) => name == other_name && body.means_same(other_body),
            (
                Self::Simple { .. }
                | Self::Test(_)
                | Self::Group(_)
                | Self::Subshell(_)
                | Self::For { .. }
                | Self::If(_)
                | Self::While { .. }
                | Self::Case { .. }
                | Self::Function { .. },
                _,
            ) => false,
        }
    }
}

impl Redirect {
    fn means_same(&self, other: &Self) -> bool {
        let Self {
            operator,
            descriptor,
            both,
            target,
            span: _,
        } = self;
        *operator == other.operator
            && *descriptor == other.descriptor
            && *both == other.both
            && target.means_same(&other.target)
    }
}

impl Word {
    fn means_same(&self, other: &Self) -> bool {
        let Self { pieces, span: _ } = self;
        all(pieces, &other.pieces, Piece::means_same)
    }
}

impl Piece {
    fn means_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Text { text, quoted },
                Self::Text {
                    text: other_text,
                    quoted: other_quoted,
                },
            ) => text == other_text && quoted == other_quoted,
            (
                Self::Variable {
                    name,
                    change,
                    quoted,
                },
                Self::Variable {
                    name: other_name,
                    change: other_change,
                    quoted: other_quoted,
                },
            ) => name == other_name && quoted == other_quoted && change.means_same(other_change),
            (
                Self::Substitution { text, quoted },
                Self::Substitution {
                    text: other_text,
                    quoted: other_quoted,
                },
            ) => quoted == other_quoted && text.means_same(other_text),
            (Self::Process { text }, Self::Process { text: other_text }) => {
                text.means_same(other_text)
            }
            (Self::Arithmetic { inner }, Self::Arithmetic { inner: other_inner }) => {
                inner.means_same(other_inner)
            }
            (
                Self::Text { .. }
                | Self::Variable { .. }
                | Self::Substitution { .. }
                | Self::Process { .. }
                | Self::Arithmetic { .. },
                _,
            ) => false,
        }
    }
}

impl Change {
    fn means_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Default(one), Self::Default(other))
            | (Self::Assign(one), Self::Assign(other))
            | (Self::Length(one), Self::Length(other))
            | (Self::Indirect(one), Self::Indirect(other))
            | (Self::Other(one), Self::Other(other)) => one.means_same(other),
            (
                Self::None
                | Self::Default(_)
                | Self::Assign(_)
                | Self::Length(_)
                | Self::Indirect(_)
                | Self::Other(_),
                _,
            ) => false,
        }
    }
}

impl Inner {
    fn means_same(&self, other: &Self) -> bool {
        let Self { text, at: _ } = self;
        *text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;
    use crate::shell::tree;

    /// Texts of which no two mean the same.
    const TEXTS: &[&str] = &[
        "a",
        "b",
        "a b",
        "x=1 a",
        "x=2 a",
        "a; a",
        "a && a",
        "a || a",
        "a | a",
        "a &",
        "a > f",
        "a > g",
        "a 2> f",
        "a &> f",
        "a >> f",
        "a < f",
        "[ x ]",
        "[ y ]",
        "{ a; }",
        "( a )",
        "for x in 1; do a; done",
        "for y in 1; do a; done",
        "for x in 2; do a; done",
        "for x in 1; do b; done",
        "if a; then b; fi",
        "if a; then b; else c; fi",
        "while a; do b; done",
        "while a; do c; done",
        "case x in y) a;; esac",
        "case z in y) a;; esac",
        "case x in z) a;; esac",
        "case x in y) b;; esac",
        "f() { a; }",
        "g() { a; }",
        "f() { b; }",
        "a \"*\"",
        "a *",
        "a $x",
        "a \"$x\"",
        "a $y",
        "a ${x:-1}",
        "a ${x:-2}",
        "a ${x:=1}",
        "a ${#x}",
        "a ${!x}",
        "a ${x%1}",
        "a $(b)",
        "a \"$(b)\"",
        "a $(c)",
        "a <(b)",
        "a <(c)",
        "a $((1))",
        "a $((x))",
    ];

    #[test]
    fn positions_are_no_part_of_what_a_script_means() {
        for one in TEXTS {
            for other in TEXTS {
                let (left, right) = (tree::parse(one), tree::parse(&format!("  {other}")));
                assert!(left.is_some() && right.is_some(), "{one} {other}");
                let same = is_same(left.as_ref(), right.as_ref());
                assert_eq!(same, one == other, "{one} {other}");
            }
        }
        assert!(is_same(None, None) && !is_same(tree::parse("a").as_ref(), None));
    }
}
