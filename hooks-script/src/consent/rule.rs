//! Rule that decides if a list of changes amounts to consent for a request.

use std::collections::HashMap;

use super::request::{ConsentChange, ConsentRequest, Decision, Missing};
use crate::scope::Scope;

/// Result of evaluating the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsentState {
    /// Consent by the change with this id.
    Approved(u64),
    Denied,
    Missing(Missing),
}

/// Evaluates the changes about the hook and the capability. Callers may omit a change if a later
/// change has an equal scope, decision and version.
pub(super) fn standing<'a>(
    request: &ConsentRequest,
    changes: impl IntoIterator<Item = &'a ConsentChange>,
) -> ConsentState {
    let mut last_word: HashMap<&Scope, &ConsentChange> = HashMap::new();
    let mut revoked = None;
    let mut other_version = None;
    for change in changes {
        if !change.scope.covers(&request.scope) {
            continue;
        }
        if change.decision == Decision::Revoke {
            revoked = revoked.max(Some(change.id));
        } else if change.code_hash.as_ref() != Some(&request.code_hash)
            || change.context.as_ref() != Some(&request.context)
        {
            other_version = other_version.max(Some(change.id));
            continue;
        }
        let word = last_word.entry(&change.scope).or_insert(change);
        if change.id > word.id {
            *word = change;
        }
    }
    if last_word
        .values()
        .any(|word| word.decision == Decision::Deny)
    {
        return ConsentState::Denied;
    }
    let approval = last_word
        .values()
        // An approval for a guild is not an approval for its members.
        .filter(|word| word.decision == Decision::Approve && word.scope.user == request.scope.user)
        .map(|word| word.id)
        .max();
    match approval {
        Some(id) if Some(id) > revoked => ConsentState::Approved(id),
        _ if revoked.is_some() && revoked >= other_version => {
            ConsentState::Missing(Missing::Revoked)
        }
        _ if other_version.is_some() => ConsentState::Missing(Missing::Changed),
        _ => ConsentState::Missing(Missing::Never),
    }
}

#[cfg(test)]
mod tests {
    use super::Decision::{Approve, Deny, Revoke};
    use super::*;

    /// Evaluates changes, each with a scope and a version, for `requested`.
    fn after(requested: &Scope, changes: &[(Decision, Scope, &str)]) -> ConsentState {
        let changes: Vec<_> = changes
            .iter()
            .zip(1..)
            .map(|((decision, scope, hash), id)| ConsentChange {
                id,
                time: jiff::Timestamp::UNIX_EPOCH,
                by: "u".to_owned(),
                decision: *decision,
                hook: "hook".to_owned(),
                code_hash: (*decision != Revoke).then(|| (*hash).to_owned()),
                context: (*decision != Revoke).then(String::new),
                capability: "http".to_owned(),
                scope: scope.clone(),
            })
            .collect();
        let request = ConsentRequest::new("hook", "v1", "http", requested.clone());
        let forwards = standing(&request, &changes);
        assert_eq!(
            forwards,
            standing(&request, changes.iter().rev()),
            "the result does not depend on the order"
        );
        forwards
    }

    fn user() -> Scope {
        Scope::user("u")
    }

    fn here() -> Scope {
        user().in_guild("g").in_channel("c")
    }

    #[test]
    fn s_21_an_approval_covers_narrower_scopes() {
        assert_eq!(
            after(&here(), &[(Approve, user(), "v1")]),
            ConsentState::Approved(1)
        );
        assert_eq!(
            after(&user(), &[(Approve, here(), "v1")]),
            ConsentState::Missing(Missing::Never)
        );
        let elsewhere = user().in_guild("other");
        assert_eq!(
            after(&elsewhere, &[(Approve, user().in_guild("g"), "v1")]),
            ConsentState::Missing(Missing::Never)
        );
    }

    #[test]
    fn s_21_an_approval_of_a_guild_does_not_cover_its_members() {
        let guild = [(Approve, Scope::guild("g"), "v1")];
        assert_eq!(
            after(&here(), &guild),
            ConsentState::Missing(Missing::Never)
        );
        assert_eq!(
            after(&Scope::guild("g").in_channel("c"), &guild),
            ConsentState::Approved(1)
        );
    }

    #[test]
    fn s_21_a_changed_hook_needs_new_consent() {
        assert_eq!(
            after(&here(), &[(Approve, user(), "v0")]),
            ConsentState::Missing(Missing::Changed)
        );
        assert_eq!(
            after(&here(), &[(Deny, user(), "v0")]),
            ConsentState::Missing(Missing::Changed)
        );
    }

    #[test]
    fn s_21_a_denial_applies_until_the_same_scope_changes_it() {
        let guild = || Scope::guild("g");
        let denied = [
            (Deny, guild(), "v1"),
            (Approve, user(), "v1"),
            (Approve, here(), "v1"),
        ];
        assert_eq!(after(&here(), &denied), ConsentState::Denied);
        let changed = [
            (Deny, guild(), "v1"),
            (Approve, here(), "v1"),
            (Approve, guild(), "v1"),
        ];
        assert_eq!(after(&here(), &changed), ConsentState::Approved(2));
        let revoked = [(Deny, user(), "v1"), (Revoke, user(), "v1")];
        assert_eq!(
            after(&here(), &revoked),
            ConsentState::Missing(Missing::Revoked)
        );
    }

    #[test]
    fn s_21_a_revocation_voids_approvals_of_narrower_and_wider_scopes() {
        for (approved, revoked) in [
            (user(), here()),
            (here(), user()),
            (here(), Scope::everything()),
        ] {
            let changes = [(Approve, approved, "v1"), (Revoke, revoked, "v1")];
            assert_eq!(
                after(&here(), &changes),
                ConsentState::Missing(Missing::Revoked)
            );
        }
        // A sibling scope is not affected.
        let sibling = [
            (Approve, user(), "v1"),
            (Revoke, user().in_guild("other"), "v1"),
        ];
        assert_eq!(after(&here(), &sibling), ConsentState::Approved(1));
        let again = [
            (Approve, user(), "v1"),
            (Revoke, here(), "v1"),
            (Approve, user(), "v1"),
        ];
        assert_eq!(after(&here(), &again), ConsentState::Approved(3));
    }

    #[test]
    fn s_21_a_revocation_voids_every_version() {
        let changes = [(Approve, user(), "v1"), (Revoke, user(), "v2")];
        assert_eq!(
            after(&here(), &changes),
            ConsentState::Missing(Missing::Revoked)
        );
    }
}
