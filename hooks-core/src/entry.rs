//! Registrations: a hook and its options.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::cold_option::ColdOption;
use crate::failure::FailurePolicy;
use crate::refusal::RegistrationError;
use crate::timer::Timer;

/// A hook with the options of its registration.
///
/// ```
/// use hooks_core::Entry;
///
/// let entry = Entry::new("any hook").key("audit").priority(-5);
/// assert_eq!(entry.meta().key(), Some("audit"));
/// ```
#[derive(Debug, Clone)]
pub struct Entry<H> {
    hook: H,
    /// Allocated as the slot stores it: an entry is moved several times until it is registered,
    /// and its options take 200 bytes.
    meta: Arc<EntryMeta>,
}

impl<H> Entry<H> {
    /// Creates an entry without key or name, at priority 0.
    pub fn new(hook: H) -> Self {
        Entry::with_type_name(hook, std::any::type_name::<H>())
    }

    /// Creates an entry for a hook that is displayed under another type's name.
    pub fn with_type_name(hook: H, hook_type: &'static str) -> Self {
        Entry {
            hook,
            meta: Arc::new(EntryMeta::new(hook_type)),
        }
    }

    /// Sets the key for replacement and removal: registering another entry with an equal key in the
    /// slot replaces this entry, in its place.
    #[must_use]
    pub fn key(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.options().key = Some(key.into());
        self
    }

    /// Sets the name that `describe()`, spans and messages show. Names need not be unique; the
    /// default is the name of the hook's type.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.options().name = Some(Arc::from(&*name.into()));
        self
    }

    /// Sets the priority: lower runs first, equal priorities in order of registration. 0 by
    /// default.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.options().priority = priority;
        self
    }

    /// Runs the hook before the entry with this key, whatever their priorities: if it would run
    /// later, it moves directly before that entry. May be called several times.
    ///
    /// An unknown key and a cycle are refused at registration; [`before_if_present`] takes a key that is
    /// registered later. If the entry with the key is removed later, the constraint has no effect until
    /// the key is registered again; an entry that replaces this entry may then name the key, too.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_core::{Entry, Slot};
    ///
    /// let mut slot: Slot<str> = Slot::new();
    /// slot.insert(Entry::new(Arc::from("audit")).key("audit").priority(-10));
    /// slot.insert(Entry::new(Arc::from("redact")).before("audit"));
    /// let order: Vec<_> = slot.iter().map(|(hook, _)| hook).collect();
    /// assert_eq!(order, ["redact", "audit"]);
    /// ```
    ///
    /// [`before_if_present`]: Self::before_if_present
    #[must_use]
    pub fn before(self, key: impl Into<Cow<'static, str>>) -> Self {
        self.constrained(Side::Before, key.into(), false)
    }

    /// Runs the hook after the entry with this key, whatever their priorities: if it would run
    /// earlier, it moves directly after that entry. Otherwise as [`before`](Self::before).
    #[must_use]
    pub fn after(self, key: impl Into<Cow<'static, str>>) -> Self {
        self.constrained(Side::After, key.into(), false)
    }

    /// Like [`before`](Self::before), for an entry that may be registered later, or never: plugins
    /// that name each other can be loaded in any order. The constraint has effect while the key is
    /// registered.
    ///
    /// A cycle is refused at the registration that closes it, which may be that of the named entry.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_core::{Entry, Slot};
    ///
    /// let mut slot: Slot<str> = Slot::new();
    /// slot.insert(Entry::new(Arc::from("redact")).before_if_present("audit"));
    /// slot.insert(Entry::new(Arc::from("audit")).key("audit").priority(-10));
    /// let order: Vec<_> = slot.iter().map(|(hook, _)| hook).collect();
    /// assert_eq!(order, ["redact", "audit"]);
    /// ```
    #[must_use]
    pub fn before_if_present(self, key: impl Into<Cow<'static, str>>) -> Self {
        self.constrained(Side::Before, key.into(), true)
    }

    /// Like [`after`](Self::after), for an entry that may be registered later, or never. Otherwise as
    /// [`before_if_present`](Self::before_if_present).
    #[must_use]
    pub fn after_if_present(self, key: impl Into<Cow<'static, str>>) -> Self {
        self.constrained(Side::After, key.into(), true)
    }

    /// Registers the entry only if the slot has no entry with its key, also no disabled one: instead of
    /// replacing the other entry, the registration is refused. In a `singleton`, it is refused if a hook
    /// is registered. Without a key, it has no effect.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_core::{Entry, RegistrationError, Slot};
    ///
    /// let mut slot: Slot<str> = Slot::new();
    /// let entry = || Entry::new(Arc::from("hook")).key("audit").if_absent();
    /// assert!(slot.try_insert(entry()).is_ok());
    /// let refused = slot.try_insert(entry()).unwrap_err();
    /// assert!(matches!(refused.error(), RegistrationError::TakenKey { key, .. } if key == "audit"));
    /// ```
    #[must_use]
    pub fn if_absent(mut self) -> Self {
        self.options().is_if_absent = true;
        self
    }

    /// Sets the owner: the name of the plugin that registers the hook.
    /// [`remove_owner`](crate::Slot::remove_owner) and
    /// [`set_owner_enabled`](crate::Slot::set_owner_enabled) of slots, sets and registries remove and switch
    /// all hooks of an owner. No owner by default.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_core::{Entry, Slot};
    ///
    /// let mut slot: Slot<str> = Slot::new();
    /// slot.insert(Entry::new(Arc::from("check")).owner("linter"));
    /// slot.insert(Entry::new(Arc::from("audit")));
    /// assert_eq!(slot.remove_owner("linter").len(), 1);
    /// assert_eq!(slot.len(), 1);
    /// ```
    #[must_use]
    pub fn owner(mut self, owner: impl Into<Cow<'static, str>>) -> Self {
        self.options().rare.get_or_default().owner = Some(Arc::from(&*owner.into()));
        self
    }

    fn constrained(mut self, side: Side, key: Cow<'static, str>, is_optional: bool) -> Self {
        let rare = self.options().rare.get_or_default();
        rare.constraints.push(Constraint {
            side,
            key,
            is_optional,
        });
        self
    }

    /// Sets whether the hook runs. A disabled entry keeps its place and its key, and is not part of
    /// a dispatch. `true` by default.
    #[must_use]
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.options().is_enabled = is_enabled;
        self
    }

    /// Sets a condition: the hook runs only in dispatches for which the condition returns `true`.
    ///
    /// The condition is called once for each dispatch, before the default and all hooks, with a
    /// reference to each argument of the slot: `|text: &&str, count: &usize| …`. If a slot has no
    /// hook whose condition holds, the dispatch runs as without hooks.
    ///
    /// ```
    /// use hooks_core::{Entry, hooks};
    ///
    /// #[hooks]
    /// trait AppHooks {
    ///     #[hook(fallback)]
    ///     async fn shorten(text: &str) -> String { text.to_owned() }
    /// }
    ///
    /// let cut = async |text: String, _last: Option<String>| text[..4].to_owned();
    /// let hooks = AppHooksSet::new()
    ///     .with_shorten(Entry::new(cut).when(|text: &&str| text.len() > 4));
    /// # fn block_on<T>(f: impl Future<Output = T>) -> T {
    /// #     let mut f = std::pin::pin!(f);
    /// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
    /// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
    /// # }
    /// # block_on(async {
    /// assert_eq!(hooks.shorten("a text").await, "a te");
    /// assert_eq!(hooks.shorten("no").await, "no");
    /// # });
    /// ```
    #[must_use]
    pub fn when<F>(self, condition: F) -> Entry<When<H, F>> {
        self.conditional(true).map(|hook| When { hook, condition })
    }

    /// Sets whether the policy of a dispatch decides if the hook takes part in it
    /// ([`Policy::admits`](crate::Policy::admits)). For front ends; [`when`](Self::when) sets it.
    #[must_use]
    pub fn conditional(mut self, is_conditional: bool) -> Self {
        self.options().is_conditional = is_conditional;
        self
    }

    /// Sets the timeout of a call, which starts at its first wait: a hook that blocks cannot be
    /// cancelled. Slots without a [`Timer`](crate::Timer) refuse it at registration.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options().timeout = Some(timeout);
        self
    }

    /// Sets the failure policy, in place of the slot's default. Slots that propagate every failure
    /// refuse any other policy at registration.
    #[must_use]
    pub fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.options().on_failure = Some(policy);
        self
    }

    /// Sets whether the host trusts the hook's output. The engine ignores this; a policy may use
    /// it. `true` by default.
    #[must_use]
    pub fn trusted(mut self, is_trusted: bool) -> Self {
        self.options().is_trusted = is_trusted;
        self
    }

    /// Returns the hook.
    pub fn hook(&self) -> &H {
        &self.hook
    }

    /// Returns the options of the registration.
    pub fn meta(&self) -> &EntryMeta {
        &self.meta
    }

    /// Converts the hook, and keeps its options.
    pub fn map<T>(self, shape: impl FnOnce(H) -> T) -> Entry<T> {
        Entry {
            hook: shape(self.hook),
            meta: self.meta,
        }
    }

    /// Sets the type name that is displayed if the entry has no name.
    pub(crate) fn with_hook_type(mut self, hook_type: &'static str) -> Self {
        if self.meta.hook_type != hook_type {
            let options = self.options();
            options.hook_type = hook_type;
            options.type_name = OnceLock::new();
        }
        self
    }

    /// Replaces the type name of a pointer to a hook by that of the hook.
    pub(crate) fn with_pointee_name(self, hook_type: &'static str) -> Self {
        match self.meta.hook_type == std::any::type_name::<H>() {
            true => self.with_hook_type(hook_type),
            false => self,
        }
    }

    fn options(&mut self) -> &mut EntryMeta {
        Arc::make_mut(&mut self.meta)
    }

    /// Removes the key.
    pub(crate) fn without_key(mut self) -> Self {
        self.options().key = None;
        self
    }

    pub(crate) fn from_parts(hook: H, meta: Arc<EntryMeta>) -> Self {
        Entry { hook, meta }
    }

    pub(crate) fn into_parts(self) -> (H, Arc<EntryMeta>) {
        (self.hook, self.meta)
    }
}

/// A hook with a condition, as [`Entry::when`] returns it.
#[derive(Debug, Clone)]
pub struct When<H, F> {
    pub(crate) hook: H,
    pub(crate) condition: F,
}

/// A place relative to the entry with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constraint {
    pub(crate) side: Side,
    key: Cow<'static, str>,
    /// `true` if the key need not be registered.
    is_optional: bool,
}

/// The side of another entry on which an entry runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Constraint {
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Returns `before` or `after`.
    pub(crate) fn word(&self) -> &'static str {
        match self.side {
            Side::Before => "before",
            Side::After => "after",
        }
    }

    /// Returns `true` if the key need not be registered.
    pub(crate) fn is_optional(&self) -> bool {
        self.is_optional
    }
}

/// The options of a registration, as the slot stores them.
#[derive(Debug, Clone)]
pub struct EntryMeta {
    id: EntryId,
    key: Option<Cow<'static, str>>,
    name: Option<Arc<str>>,
    /// Name derived from the hook's type, computed on first use.
    type_name: OnceLock<Arc<str>>,
    priority: i32,
    sequence: u64,
    timeout: Option<Duration>,
    on_failure: Option<FailurePolicy>,
    is_trusted: bool,
    is_enabled: bool,
    is_conditional: bool,
    /// `true` if the entry replaces no other.
    is_if_absent: bool,
    /// `true` while an entry of another slot is inserted ([`Slot::adopt_all`](crate::Slot::adopt_all)).
    is_adopted: bool,
    /// Most entries have none of these options.
    rare: ColdOption<Box<RareOptions>>,
    /// Place in the list: the natural rank, unless a constraint moves the entry.
    rank: Rank,
    timer: Option<SlotTimer>,
    hook_type: &'static str,
}

/// Options that few entries have.
#[derive(Debug, Clone, Default)]
struct RareOptions {
    owner: Option<Arc<str>>,
    /// The keys before and after which the entry runs.
    constraints: Vec<Constraint>,
}

/// Place of an entry in the list of its slot: the priority, then the sequence and a place among the
/// entries that run directly before or after the entry of this sequence. No two entries of a slot
/// have the same rank.
pub(crate) type Rank = (i32, u64);

/// Number of bits of a rank for the place among the entries that are moved to one entry. 40 bits
/// remain for the sequence.
const MOVED_BITS: u32 = 24;

/// Place of an entry that is not moved, among the entries that are moved to it.
pub(crate) const NOT_MOVED: u64 = 1 << (MOVED_BITS - 1);

/// Greatest place of an entry that is moved.
pub(crate) const MAX_MOVED: u64 = (1 << MOVED_BITS) - 1;

/// Returns the rank of an entry of this priority and sequence that is not moved.
pub(crate) fn natural_rank(priority: i32, sequence: u64) -> Rank {
    (priority, sequence << MOVED_BITS | NOT_MOVED)
}

/// Returns the rank with this place among the entries that are moved to one entry.
pub(crate) fn moved_rank(rank: Rank, place: u64) -> Rank {
    (rank.0, rank.1 & !MAX_MOVED | place)
}

/// Returns the place among the entries that are moved to one entry.
pub(crate) fn moved_place(rank: Rank) -> u64 {
    rank.1 & MAX_MOVED
}

#[derive(Clone)]
struct SlotTimer(Arc<dyn Timer>);

impl fmt::Debug for SlotTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}

impl EntryMeta {
    fn new(hook_type: &'static str) -> Self {
        EntryMeta {
            id: EntryId::next(),
            key: None,
            name: None,
            type_name: OnceLock::new(),
            priority: 0,
            sequence: 0,
            timeout: None,
            on_failure: None,
            is_trusted: true,
            is_enabled: true,
            is_conditional: false,
            is_if_absent: false,
            is_adopted: false,
            rare: ColdOption::none(),
            rank: (0, 0),
            timer: None,
            hook_type,
        }
    }

    /// Returns the id of the registration, unique in this process.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Returns the key for replacement and removal, if there is one.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the displayed name: the name given at registration, else the type of the hook
    /// without its path. `Stateful<T>`, `Arc<T>`, `Box<T>` and `&T` have the name of `T`, because
    /// the wrapper is only the way of storing the hook.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match &self.name {
            Some(name) => name,
            None => self.type_name(),
        })
    }

    /// Returns the priority: lower runs first.
    pub fn priority(&self) -> i32 {
        self.priority
    }

    /// Returns the position among entries of equal priority: lower runs first, unless a relative
    /// order moves an entry.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the place in the execution order of the slot, for comparisons with other entries of
    /// the slot. A concurrent [`Policy`](crate::Policy) sorts outputs by it, because hooks complete
    /// in any order.
    pub fn rank(&self) -> (i32, u64) {
        self.rank
    }

    /// Returns the [`name`](Self::name) as a shared string.
    pub fn name_arc(&self) -> Arc<str> {
        match &self.name {
            Some(name) => Arc::clone(name),
            None => Arc::clone(self.type_name()),
        }
    }

    fn type_name(&self) -> &Arc<str> {
        self.type_name
            .get_or_init(|| short_type_name(self.hook_type()).into())
    }

    /// Returns the name given at registration, if there is one.
    pub fn explicit_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the timeout of a call, if there is one.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns the failure policy, if the registration sets one.
    pub fn on_failure(&self) -> Option<FailurePolicy> {
        self.on_failure
    }

    /// Returns `true` if the host trusts the hook's output.
    pub fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Returns `true` if the hook runs, `false` if it is disabled.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Returns `true` if the registration replaces no other ([`Entry::if_absent`]).
    pub fn is_if_absent(&self) -> bool {
        self.is_if_absent
    }

    /// Returns the owner, if there is one ([`Entry::owner`]).
    pub fn owner(&self) -> Option<&str> {
        self.rare.as_ref()?.owner.as_deref()
    }

    /// Returns `true` if an entry of another slot is inserted: its options were checked there.
    pub(crate) fn is_adopted(&self) -> bool {
        self.is_adopted
    }

    /// Prepares the entry of another slot to be inserted.
    pub(crate) fn adopt(&mut self) {
        self.is_adopted = true;
    }

    /// Removes the constraints for which `is_kept` returns `false`.
    pub(crate) fn retain_constraints(&mut self, is_kept: impl FnMut(&Constraint) -> bool) {
        if let Some(rare) = self.rare.as_mut() {
            rare.constraints.retain(is_kept);
        }
    }

    /// Returns an error if the entry replaces none, and there is one to replace.
    pub(crate) fn check_absent(
        &self,
        replaced: Option<&EntryMeta>,
    ) -> Result<(), RegistrationError> {
        match replaced {
            Some(replaced) if self.is_if_absent && !self.is_adopted => {
                Err(RegistrationError::TakenKey {
                    hook: self.name().into_owned(),
                    key: replaced.key().unwrap_or_default().to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if the hook has a condition.
    pub fn is_conditional(&self) -> bool {
        self.is_conditional
    }

    /// Iterates over the keys of the entries before which this entry runs ([`Entry::before`]).
    pub fn before(&self) -> impl Iterator<Item = &str> {
        self.given(Side::Before, false)
    }

    /// Iterates over the keys of the entries before which this entry runs, if they are registered
    /// ([`Entry::before_if_present`]).
    pub fn before_if_present(&self) -> impl Iterator<Item = &str> {
        self.given(Side::Before, true)
    }

    /// Iterates over the keys of the entries after which this entry runs ([`Entry::after`]).
    pub fn after(&self) -> impl Iterator<Item = &str> {
        self.given(Side::After, false)
    }

    /// Iterates over the keys of the entries after which this entry runs, if they are registered
    /// ([`Entry::after_if_present`]).
    pub fn after_if_present(&self) -> impl Iterator<Item = &str> {
        self.given(Side::After, true)
    }

    fn given(&self, side: Side, is_optional: bool) -> impl Iterator<Item = &str> {
        let given = self.constraints().iter().filter(move |constraint| {
            constraint.side == side && constraint.is_optional == is_optional
        });
        given.map(Constraint::key)
    }

    /// Iterates over the keys that the entry names on this side.
    pub(crate) fn named(&self, side: Side) -> impl Iterator<Item = &str> {
        let constraints = self.constraints().iter();
        let on_side = constraints.filter(move |constraint| constraint.side == side);
        on_side.map(Constraint::key)
    }

    pub(crate) fn constraints(&self) -> &[Constraint] {
        self.rare.as_ref().map_or(&[], |rare| &rare.constraints)
    }

    /// Returns `true` if the entry has `before` or `after`.
    pub(crate) fn is_constrained(&self) -> bool {
        !self.constraints().is_empty()
    }

    /// Returns `true` if the order treats an entry with these options in the same way.
    pub(crate) fn is_arranged_like(&self, other: &Self) -> bool {
        self.priority == other.priority && self.constraints() == other.constraints()
    }

    pub(crate) fn enable(&mut self, is_enabled: bool) {
        self.is_enabled = is_enabled;
    }

    /// Returns the full name of the hook's type, as the compiler spells it, without
    /// `Stateful`, `Arc`, `Box` and `&` around it.
    pub fn hook_type(&self) -> &'static str {
        unwrapped(self.hook_type)
    }

    /// Checks that a slot with this timer supports the options.
    ///
    /// # Errors
    /// If the entry has a timeout and there is no timer.
    pub(crate) fn check_timer(
        &self,
        timer: Option<&Arc<dyn Timer>>,
    ) -> Result<(), RegistrationError> {
        if self.timeout.is_some() && timer.is_none() {
            return Err(RegistrationError::invalid_option(format!(
                "`{}` has a timeout, and its slot no timer; leave the timeout out, or make the slot with `Slot::with_timer`",
                self.name()
            )));
        }
        Ok(())
    }

    /// Returns the timer of the slot of this registration.
    pub(crate) fn timer(&self) -> Option<&dyn Timer> {
        self.timer.as_ref().map(|timer| &*timer.0)
    }

    /// Checks that a slot that propagates every failure supports the options.
    pub(crate) fn check_unguarded(&self, slot: &str) -> Result<(), RegistrationError> {
        let keeps_failures = |policy| policy != FailurePolicy::Propagate;
        let (what, remedy) = if self.timeout.is_some() {
            (
                "has a timeout, and hooks of the typed slot",
                "have none; leave it out, or limit the time in the hook",
            )
        } else if self.on_failure.is_some_and(keeps_failures) {
            (
                "has a failure policy, and failures of hooks of the typed slot",
                "reach the caller; leave `on_failure` out, or return the failure as an output",
            )
        } else {
            return Ok(());
        };
        Err(RegistrationError::invalid_option(format!(
            "`{}` {what} `{slot}` {remedy}",
            self.name()
        )))
    }

    /// Checks that a slot of one hook supports the options.
    pub(crate) fn check_single(&self, slot: &str) -> Result<(), RegistrationError> {
        let mut constraints = self.constraints().iter();
        match constraints.find(|constraint| !constraint.is_optional) {
            None => Ok(()),
            Some(constraint) => Err(RegistrationError::invalid_option(format!(
                "`{}` is to run {} `{}`, and the slot `{slot}` runs one hook; leave `{}` out",
                self.name(),
                constraint.word(),
                constraint.key(),
                constraint.word()
            ))),
        }
    }

    /// Stores the timer of the slot and this position, and assigns a new id, which it returns. An adopted
    /// entry keeps its id.
    pub(crate) fn register(&mut self, timer: Option<&Arc<dyn Timer>>, sequence: u64) -> EntryId {
        self.timer = timer.map(|timer| SlotTimer(Arc::clone(timer)));
        if !std::mem::take(&mut self.is_adopted) {
            self.id = EntryId::next();
        }
        self.sequence = sequence;
        self.rank = self.natural_rank();
        self.id
    }

    /// Returns the place in a list without constraints.
    pub(crate) fn natural_rank(&self) -> Rank {
        natural_rank(self.priority, self.sequence)
    }

    pub(crate) fn set_rank(&mut self, rank: Rank) {
        self.rank = rank;
    }
}

/// Id of a registration, unique in this process and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EntryId(NonZeroU64);

impl EntryId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        EntryId(NonZeroU64::new(id).expect("2^64 registrations do not happen"))
    }
}

/// Returns the type of the hook within `Stateful`, pointers and references; a pointer to a
/// `dyn Trait` is the hook itself.
fn unwrapped(mut full: &'static str) -> &'static str {
    loop {
        let by_reference = full.strip_prefix('&');
        let inner = match by_reference.map(|inner| inner.strip_prefix("mut ").unwrap_or(inner)) {
            Some(inner) => inner,
            None => match full.split_once('<') {
                Some((wrapper, inner)) if is_wrapper(wrapper) => {
                    let inner = inner.strip_suffix('>').unwrap_or(inner);
                    inner
                        .strip_suffix(", alloc::alloc::Global")
                        .unwrap_or(inner)
                }
                _ => return full,
            },
        };
        if ["dyn ", "(dyn "]
            .iter()
            .any(|start| inner.starts_with(start))
        {
            return full;
        }
        full = inner;
    }
}

/// Whether this is the path of `Box`, `Arc` or `Stateful`. Versions of the compiler differ in the
/// modules within `alloc` (`alloc::sync::Arc`, `alloc::rcs::arc::Arc`).
fn is_wrapper(path: &str) -> bool {
    let of_alloc =
        path.starts_with("alloc::") && (path.ends_with("::Box") || path.ends_with("::Arc"));
    of_alloc || path == "hooks_core::stateful::Stateful"
}

/// Returns a type's name without paths: `Keyed<String>` for `app::Keyed<alloc::string::String>`.
pub(crate) fn short_type_name(full: &str) -> String {
    let mut short = String::new();
    let mut name = String::new();
    // Start positions of the names with open brackets, and of the name whose brackets were just
    // closed.
    let (mut open, mut closed) = (Vec::new(), None);
    for part in full
        .replace("{{closure}}", "closure")
        .split_inclusive(|c: char| !is_name(c))
    {
        let (ident, end) = part.split_at(part.trim_end_matches(|c| !is_name(c)).len());
        name.push_str(ident);
        let before = closed.take();
        match end {
            ":" => {
                name.clear();
                short.truncate(before.unwrap_or(short.len()));
                continue;
            }
            "<" => open.push(short.len()),
            ">" if !short.ends_with('-') => closed = open.pop(),
            _ => {}
        }
        short.push_str(&name);
        short.push_str(end);
        name.clear();
    }
    short + &name
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{short_type_name, unwrapped};
    use crate::Stateful;

    #[test]
    fn a_wrapped_hook_has_the_type_name_of_the_inner_hook() {
        struct Counter<T>(T);
        let own = std::any::type_name::<Counter<u8>>();
        let of = |full| unwrapped(full);
        assert_eq!(of(own), own);
        assert_eq!(of(std::any::type_name::<Stateful<Counter<u8>>>()), own);
        assert_eq!(of(std::any::type_name::<Box<Counter<u8>>>()), own);
        assert_eq!(of(std::any::type_name::<&&'static Counter<u8>>()), own);
        assert_eq!(
            of(std::any::type_name::<std::sync::Arc<Stateful<Counter<u8>>>>()),
            own
        );
        assert_eq!(of("alloc::rcs::arc::Arc<app::Counter>"), "app::Counter");
        let boxed = std::any::type_name::<Box<dyn Fn(u8) + Send>>();
        assert_eq!(of(boxed), boxed);
        assert_eq!(
            of("app::Stateful<app::Counter>"),
            "app::Stateful<app::Counter>"
        );
        let _ = Counter(0_u8).0;
    }

    #[test]
    fn short_type_names_omit_paths() {
        assert_eq!(short_type_name("app::rules::Policy"), "Policy");
        assert_eq!(short_type_name("u8"), "u8");
        assert_eq!(short_type_name("app::Policy<'_>"), "Policy<'_>");
        assert_eq!(
            short_type_name("app::Keyed<(), alloc::string::String>"),
            "Keyed<(), String>"
        );
        assert_eq!(short_type_name("app::main::{{closure}}"), "closure");
        assert_eq!(short_type_name("app::Gen<u8>::set::{{closure}}"), "closure");
        assert_eq!(
            short_type_name("<app::App as app::Run<u8>>::run::{{closure}}"),
            "closure"
        );
        assert_eq!(
            short_type_name("app::Held<alloc::boxed::Box<dyn Fn(app::A) -> app::B<u8>>, app::C>"),
            "Held<Box<dyn Fn(A) -> B<u8>>, C>"
        );
    }
}
