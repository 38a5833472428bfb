//! What the clones of a stack share.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::Duration;

use super::order::HookOrder;
use crate::consent::ConsentStore;
use crate::history::RunHistory;

pub(crate) struct StackInner {
    pub(super) orders: Mutex<HookOrder>,
    pub(super) fuel: u64,
    pub(super) wall: Duration,
    pub(crate) disable_after: Option<NonZeroU32>,
    pub(crate) history: Option<RunHistory>,
    pub(crate) consent: Option<ConsentStore>,
}
