//! Commits that only some references have. In: these commits and the other references. Out: their
//! number.

use std::collections::{BinaryHeap, HashMap};

use gix_hash::ObjectId;
use gix_object::{CommitRefIter, Kind, TagRefIter};

use super::bounds::take;
use super::objects::Objects;

/// A number of found things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) number: usize,
    /// `true` if there may be more.
    pub(super) at_least: bool,
}

/// Parents and time of a commit.
struct Commit {
    parents: Vec<ObjectId>,
    time: i64,
}

fn commit(objects: &Objects, id: ObjectId) -> Option<Commit> {
    let kind = id.kind();
    let bytes = objects.find_kind(&id, Kind::Commit)?;
    let parents = CommitRefIter::from_bytes(&bytes, kind)
        .parent_ids()
        .collect();
    let committer = CommitRefIter::from_bytes(&bytes, kind).committer().ok()?;
    Some(Commit {
        parents,
        time: committer.seconds(),
    })
}

/// Returns the first parent of a commit.
pub(super) fn first_parent(objects: &Objects, id: ObjectId) -> Option<ObjectId> {
    commit(objects, id)?.parents.first().copied()
}

/// Returns the commit to which an id leads: the commit itself, or that of a tag.
fn peeled(objects: &Objects, mut id: ObjectId) -> Option<ObjectId> {
    for _ in 0..5 {
        let (kind, bytes) = objects.find(&id)?;
        match kind {
            Kind::Commit => return Some(id),
            Kind::Tag => id = TagRefIter::from_bytes(&bytes, id.kind()).target_id().ok()?,
            Kind::Tree | Kind::Blob => return None,
        }
    }
    None
}

/// Returns the number of commits that are ancestors of `tips`, or are `tips`, and that `others` do not
/// reach. `None` if a tip is missing.
pub(super) fn only_in(
    objects: &Objects,
    tips: &[ObjectId],
    others: &[ObjectId],
    limit: &mut usize,
) -> Option<Quantity> {
    let mut walk = CommitWalk::default();
    for (ids, is_other) in [(others, true), (tips, false)] {
        for id in ids {
            match peeled(objects, *id) {
                Some(id) => walk.reach(objects, id, is_other),
                // A tag of a tree has no commits.
                None if is_other => {}
                None => return None,
            }
        }
    }
    let mut at_least = false;
    while let Some((time, id)) = walk.queue.pop() {
        if walk.waiting == 0 && time < walk.earliest {
            break;
        }
        if !take(limit) {
            at_least = true;
            break;
        }
        walk.visit(objects, id);
    }
    let nodes = walk.nodes.values();
    let only = nodes.filter(|node| !node.is_other && !node.is_queued);
    Some(Quantity {
        number: only.count(),
        at_least,
    })
}

/// A walk from the latest commits to their ancestors.
struct CommitWalk {
    nodes: HashMap<ObjectId, Node>,
    queue: BinaryHeap<(i64, ObjectId)>,
    /// Number of queued commits that no other reference reaches so far.
    waiting: usize,
    /// Earliest time of the visited commits that no other reference reached then.
    earliest: i64,
}

struct Node {
    commit: Commit,
    /// `true` if an other reference reaches the commit.
    is_other: bool,
    is_queued: bool,
}

impl Default for CommitWalk {
    fn default() -> Self {
        Self {
            nodes: HashMap::new(),
            queue: BinaryHeap::new(),
            waiting: 0,
            earliest: i64::MAX,
        }
    }
}

impl CommitWalk {
    /// Records that a commit is reached. A missing commit is skipped: the end of a shallow clone.
    fn reach(&mut self, objects: &Objects, id: ObjectId, by_other: bool) {
        match self.nodes.get_mut(&id) {
            Some(node) if by_other && !node.is_other => {
                node.is_other = true;
                match node.is_queued {
                    true => self.waiting -= 1,
                    // Its ancestors are to be reached again.
                    false => {
                        node.is_queued = true;
                        self.queue.push((node.commit.time, id));
                    }
                }
            }
            Some(_) => {}
            None => {
                let Some(commit) = commit(objects, id) else {
                    return;
                };
                self.queue.push((commit.time, id));
                self.waiting += usize::from(!by_other);
                let node = Node {
                    commit,
                    is_other: by_other,
                    is_queued: true,
                };
                self.nodes.insert(id, node);
            }
        }
    }

    fn visit(&mut self, objects: &Objects, id: ObjectId) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.is_queued = false;
        let is_other = node.is_other;
        let parents = node.commit.parents.clone();
        if !is_other {
            self.waiting -= 1;
            self.earliest = self.earliest.min(node.commit.time);
        }
        for parent in parents {
            self.reach(objects, parent, is_other);
        }
    }
}
