//! Context of a call or a text: the tables and the environment in, facts about paths out.

use crate::model::environment::Environment;
use crate::model::named::Named;
use crate::tables::Tables;

/// The facts that a function of `programs/` or `languages/` may read, as they are before the first
/// action of its [`Analysis`](super::Analysis) is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) environment: &'a Environment,
}

impl Context<'_> {
    /// Returns a path, marked as a secret if it is one, or may contain one, in any folder in which
    /// the shell may be.
    pub(crate) fn named_file(&self, path: &str) -> Named {
        let mut places = self.environment.places(path);
        let secret = places.any(|place| {
            self.tables.secret_within(&place) || self.tables.reads_secrets_below(&place)
        });
        Named {
            path: path.to_owned(),
            secret,
        }
    }
}
