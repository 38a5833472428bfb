//! [`AssignedValues`]: the values that a text assigns to each variable, joined over the whole text.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::possible_path::{MAX_PATHS_OF_VARIABLE, PossiblePath};
use super::value::Value;

/// Values that a text assigns to each variable, on all paths and in all of its shells. Copies share
/// them.
///
/// A variable to which a text assigns different values may have another of them wherever the order
/// of commands is not what the walk assumes: in a trap, after an error, in a shell that runs a
/// pipeline in itself. In the next round, its value is the join of all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct AssignedValues(Rc<RefCell<Joins>>);

#[derive(Debug, Default)]
struct Joins {
    values: HashMap<String, Value>,
    /// Variables with different values in this round.
    varying: HashSet<String>,
    /// Variables with different values in an earlier round.
    joined: HashSet<String>,
    /// Files that a value of the variable names.
    paths: HashMap<String, Vec<PossiblePath>>,
}

impl AssignedValues {
    /// Records an assignment, and returns the value that the variable has after it.
    pub(crate) fn assign(&self, name: &str, value: Value) -> Value {
        self.record(name, &value);
        self.in_loop(name, value)
    }

    fn record(&self, name: &str, value: &Value) {
        let mut joins = self.0.borrow_mut();
        let join = match joins.values.get(name) {
            Some(before) if before == value => return,
            Some(before) => before.join(value),
            None => {
                joins.values.insert(name.to_owned(), value.clone());
                return;
            }
        };
        joins.values.insert(name.to_owned(), join);
        joins.varying.insert(name.to_owned());
    }

    /// Returns the value that a variable has in one round of a loop. The loop itself has recorded the
    /// join of its values.
    pub(crate) fn in_loop(&self, name: &str, value: Value) -> Value {
        let joins = self.0.borrow();
        match joins.joined.contains(name) {
            true => joins.values[name].clone(),
            false => value,
        }
    }

    /// Records files that a value of a variable names.
    pub(crate) fn add_paths(&self, name: &str, paths: &[PossiblePath]) {
        if paths.is_empty() {
            return;
        }
        let mut joins = self.0.borrow_mut();
        let known = joins.paths.entry(name.to_owned()).or_default();
        let room = MAX_PATHS_OF_VARIABLE.saturating_sub(known.len());
        for path in paths.iter().take(room) {
            if !known.contains(path) {
                known.push(path.clone());
            }
        }
    }

    /// Returns the files that a variable may name wherever it is read: those of all of its values,
    /// if it had different ones in an earlier round.
    pub(crate) fn paths_everywhere(&self, name: &str) -> Vec<PossiblePath> {
        let joins = self.0.borrow();
        let paths = joins.joined.contains(name).then(|| joins.paths.get(name));
        paths.flatten().cloned().unwrap_or_default()
    }

    /// Returns the files that the values of each variable name.
    pub(crate) fn paths(&self) -> HashMap<String, Vec<PossiblePath>> {
        self.0.borrow().paths.clone()
    }

    /// Returns the join of the values of each assigned variable.
    pub(crate) fn joins(&self) -> HashMap<String, Value> {
        self.0.borrow().values.clone()
    }

    /// Returns the assignments for another round, in which the variables with different values have
    /// the join of them; `None` if this round had no further ones.
    pub(crate) fn next_round(&self) -> Option<Self> {
        let joins = self.0.borrow();
        let found_more = !joins.varying.is_subset(&joins.joined);
        found_more.then(|| self.known_from_now())
    }

    /// Returns the assignments for another round, in which the variables with different values have
    /// the join of them.
    pub(crate) fn known_from_now(&self) -> Self {
        let joins = self.0.borrow();
        Self(Rc::new(RefCell::new(Joins {
            values: joins.values.clone(),
            varying: HashSet::new(),
            joined: &joins.joined | &joins.varying,
            paths: joins.paths.clone(),
        })))
    }
}
