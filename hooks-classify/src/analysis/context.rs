//! Context of a call or a text: the tables and the environment in, paths with their secrecy out.

use crate::model::environment::Environment;
use crate::model::possible_path::PossiblePath;
use crate::model::shells::Shells;
use crate::tables::Tables;

/// Tables and environment that a function of `programs/` or `languages/` reads: the state before the
/// first action of its [`Analysis`](super::Analysis) is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) environment: &'a Environment,
    /// The shells that may read the text.
    pub(crate) shells: Shells,
}

impl Context<'_> {
    /// Returns a path, marked as a secret if it is one, or may contain one, in any folder in which
    /// the shell may be.
    pub(crate) fn possible_path(&self, path: &str) -> PossiblePath {
        let mut places = self.environment.candidate_paths(path);
        let secret = places.any(|place| {
            self.tables.may_read_secrets(&place) || self.tables.may_read_secrets_below(&place)
        });
        PossiblePath {
            path: path.to_owned(),
            secret,
        }
    }
}
