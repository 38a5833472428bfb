//! Hooks of a stack, and their order in each scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use hooks_runtime::{Entry, Slot, Timer};

use super::member::StackMember;

/// Error returned when an order names an unknown hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown hook `{id}`; insert it into the stack before ordering it")]
pub struct UnknownHook {
    /// The unknown id.
    pub id: String,
}

pub(crate) struct HookOrder {
    timer: Arc<dyn Timer>,
    /// Hooks in insertion order.
    inserted: Slot<StackMember>,
    /// Orders by scope; `None` is the general order.
    named: BTreeMap<Option<String>, Vec<String>>,
    slots: BTreeMap<Option<String>, Slot<StackMember>>,
}

impl HookOrder {
    pub(super) fn new(timer: Arc<dyn Timer>) -> Self {
        HookOrder {
            timer,
            inserted: Slot::new(),
            named: BTreeMap::new(),
            slots: BTreeMap::new(),
        }
    }

    pub(super) fn insert(&mut self, member: StackMember) {
        let key = member.id.to_string();
        self.inserted.insert(Entry::new(Arc::new(member)).key(key));
        self.arrange();
    }

    pub(super) fn remove(&mut self, id: &str) -> bool {
        let found = self.inserted.remove(id);
        // If the removed hook was the only one, the general order applies again.
        self.named.retain(|_, ids| {
            ids.retain(|named| named != id);
            !ids.is_empty()
        });
        self.arrange();
        found
    }

    pub(super) fn set(&mut self, scope: Option<&str>, ids: &[&str]) -> Result<(), UnknownHook> {
        if let Some(unknown) = ids.iter().find(|id| self.inserted.get(id).is_none()) {
            let id = (*unknown).to_owned();
            return Err(UnknownHook { id });
        }
        let scope = scope.map(str::to_owned);
        if ids.is_empty() {
            self.named.remove(&scope);
        } else {
            let ids = ids.iter().map(|&id| id.to_owned()).collect();
            self.named.insert(scope, ids);
        }
        self.arrange();
        Ok(())
    }

    /// Returns the hooks in the order of a scope.
    pub(super) fn slot(&self, scope: Option<&str>) -> Slot<StackMember> {
        let own = scope.and_then(|scope| self.slots.get(&Some(scope.to_owned())));
        let slot = own.or_else(|| self.slots.get(&None));
        slot.cloned().unwrap_or_default()
    }

    fn arrange(&mut self) {
        let none = (None, Vec::new());
        let unnamed = (!self.named.contains_key(&None)).then_some((&none.0, &none.1));
        let orders = self.named.iter().chain(unnamed);
        self.slots = orders
            .map(|(scope, ids)| (scope.clone(), self.arranged(ids)))
            .collect();
    }

    fn arranged(&self, ids: &[String]) -> Slot<StackMember> {
        let mut slot = Slot::with_timer(Arc::clone(&self.timer));
        self.inserted.iter().for_each(|(member, _)| {
            let place = ids.iter().position(|id| **id == *member.id);
            let priority = i32::try_from(place.unwrap_or(ids.len())).unwrap_or(i32::MAX);
            let entry = Entry::new(Arc::new(member.clone()))
                .key(member.id.to_string())
                .name(member.hook.manifest().name().to_owned())
                .trusted(false)
                .priority(priority);
            slot.insert(entry);
        });
        slot
    }
}
