//! Order of decisions by strictness. In: decisions about one request. Out: the decision that counts.

use crate::classify::Decision;
use crate::request::PermissionDecision;

/// How strict a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strictness {
    Allowed,
    /// Some agents run requests that are left to them.
    LeftToAgent,
    NeedsApproval,
    Denied,
}

impl Strictness {
    pub(super) fn of(permission: &PermissionDecision) -> Self {
        match permission {
            PermissionDecision { denied: true, .. } => Self::Denied,
            PermissionDecision {
                decision: Decision::AutoAllowed,
                ..
            } => Self::Allowed,
            PermissionDecision {
                left_to_agent: true,
                ..
            } => Self::LeftToAgent,
            _ => Self::NeedsApproval,
        }
    }

    /// Returns `true` if the agent may run the request without an approval.
    pub(super) fn permits(self) -> bool {
        self < Self::NeedsApproval
    }
}

/// Returns `true` if a decision of the service counts whatever this process decides: it does not let
/// the request run, or the operator has approved the request.
pub(super) fn counts_alone(service: &PermissionDecision) -> bool {
    service.approved || !Strictness::of(service).permits()
}

/// Returns `true` if no decision of this process is stricter than the service's.
pub(super) fn is_as_strict<'a>(
    service: &PermissionDecision,
    own: impl IntoIterator<Item = &'a PermissionDecision>,
) -> bool {
    let limit = Strictness::of(service);
    own.into_iter().all(|own| Strictness::of(own) <= limit)
}

/// Returns the strictest decision, with its value; the first of several equally strict ones. The
/// stronger effect counts among decisions of the same strictness.
pub(super) fn strictest<T>(
    decisions: impl IntoIterator<Item = (T, PermissionDecision)>,
) -> Option<(T, PermissionDecision)> {
    let rank = |decision: &PermissionDecision| (Strictness::of(decision), decision.classification);
    decisions
        .into_iter()
        .reduce(|found, next| match rank(&next.1) > rank(&found.1) {
            true => next,
            false => found,
        })
}

#[cfg(test)]
mod tests {
    use super::{Strictness, counts_alone, is_as_strict, strictest};
    use crate::classify::Crud;
    use crate::decider::tests::{allowed, asks, denied, left_to_agent};
    use crate::request::PermissionDecision;

    #[test]
    fn decisions_are_ordered_from_an_allow_to_a_denial() {
        let denied_and_allowed = PermissionDecision {
            denied: true,
            ..allowed()
        };
        for (decision, expected, permits) in [
            (allowed(), Strictness::Allowed, true),
            (left_to_agent(), Strictness::LeftToAgent, true),
            (asks(), Strictness::NeedsApproval, false),
            (denied(), Strictness::Denied, false),
            (denied_and_allowed, Strictness::Denied, false),
        ] {
            let strictness = Strictness::of(&decision);
            assert_eq!(strictness, expected);
            assert_eq!(strictness.permits(), permits, "{strictness:?}");
        }
    }

    #[test]
    fn only_a_restriction_or_an_approval_counts_alone() {
        let approved = PermissionDecision {
            approved: true,
            ..allowed()
        };
        assert!(counts_alone(&asks()));
        assert!(counts_alone(&denied()));
        assert!(counts_alone(&approved));
        assert!(!counts_alone(&allowed()));
        assert!(!counts_alone(&left_to_agent()));
    }

    #[test]
    fn an_allow_of_the_service_needs_every_own_decision() {
        assert!(is_as_strict(&allowed(), []));
        assert!(is_as_strict(&allowed(), [&allowed(), &allowed()]));
        for strict in [left_to_agent(), asks(), denied()] {
            assert!(!is_as_strict(&allowed(), [&allowed(), &strict]));
        }
        assert!(is_as_strict(&left_to_agent(), [&left_to_agent()]));
        assert!(!is_as_strict(&left_to_agent(), [&asks()]));
    }

    #[test]
    fn the_strictest_reading_counts_then_the_stronger_effect_then_the_first() {
        let of = |decision: PermissionDecision, classification| PermissionDecision {
            classification,
            ..decision
        };
        let found = strictest([
            (0, allowed()),
            (1, of(asks(), Crud::Update)),
            (2, of(asks(), Crud::Delete)),
            (3, of(asks(), Crud::Delete)),
            (4, of(left_to_agent(), Crud::Delete)),
        ]);
        assert_eq!(found.map(|(at, _)| at), Some(2));
        assert!(strictest::<()>([]).is_none());
    }
}
