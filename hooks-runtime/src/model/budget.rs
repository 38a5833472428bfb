//! Budgets of model usage, reserved before each operation and settled after it.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use hooks_core::RequestExtensions;
use serde::{Deserialize, Serialize};

use crate::lock::lock;

/// Maximum usage of an operation.
///
/// As an extension of a request, or among the defaults of a model, it is the estimate of operations
/// without a `resolve_usage_estimate` hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UsageEstimate {
    /// Tokens, in and out.
    pub tokens: u64,
    /// Cost, in millionths of the budget's currency.
    pub cost_micros: u64,
}

impl UsageEstimate {
    /// Creates an estimate in tokens.
    pub fn tokens(tokens: u64) -> Self {
        UsageEstimate {
            tokens,
            cost_micros: 0,
        }
    }

    /// Sets the estimated cost, in millionths.
    #[must_use]
    pub fn cost_micros(mut self, cost_micros: u64) -> Self {
        self.cost_micros = cost_micros;
        self
    }
}

/// Usage of an operation so far, as the provider reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the input.
    pub input_tokens: u64,
    /// Tokens of the output.
    pub output_tokens: u64,
    /// Cost in millionths, if the adapter knows it; otherwise, budgets count the estimate.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Creates a usage in tokens, without a cost.
    pub fn tokens(input_tokens: u64, output_tokens: u64) -> Self {
        Usage {
            input_tokens,
            output_tokens,
            cost_micros: None,
        }
    }

    /// Sets the cost, in millionths.
    #[must_use]
    pub fn cost_micros(mut self, cost_micros: u64) -> Self {
        self.cost_micros = Some(cost_micros);
        self
    }

    /// Returns the sum of input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the greater of the usage and the estimate.
    fn at_least(mut self, estimate: &UsageEstimate) -> Self {
        let missing = estimate.tokens.saturating_sub(self.total_tokens());
        self.output_tokens = self.output_tokens.saturating_add(missing);
        // Budgets count an unknown cost as the estimated one.
        let cost = self.cost_micros;
        self.cost_micros = cost.map(|cost| cost.max(estimate.cost_micros));
        self
    }
}

/// Decides whether an operation may be sent, and keeps the counters.
///
/// Every granted reservation is followed by exactly one [`settle`](Budget::settle) or
/// [`release`](Budget::release), also after a panic in a hook and if the caller drops the stream.
/// These two must not panic.
///
/// The counted usage depends on the progress of the operation. Providers report usage at the end of
/// a response, and also charge for responses that the caller cancelled, so a partial response is not
/// free:
///
/// | End of the operation | Counted usage |
/// |---|---|
/// | before the adapter has responded: the budget or the adapter refuses, a hook panics, the caller drops the stream | nothing: the reservation is released |
/// | complete | the reported usage, else the estimate |
/// | after the adapter has begun to respond: an error, a truncated response, a panic, a dropped stream | the greater of the estimate and the usage reported so far |
///
/// The adapter has responded once [`ModelAdapter::stream`](super::ModelAdapter::stream) has returned
/// a stream. If a tool call cannot be parsed, the rest of the response is still read for its usage,
/// at most 1024 events and for a second; if it ends within that, it counts as complete.
///
/// A budget per tenant reads the tenant from the extensions.
pub trait Budget: Send + Sync {
    /// Reserves the estimate for an operation.
    ///
    /// # Errors
    /// The operation is not sent, and its caller gets the error.
    fn reserve(
        &self,
        estimate: &UsageEstimate,
        extensions: &RequestExtensions,
    ) -> Result<(), BudgetError>;

    /// Removes the reservation, and counts the usage.
    fn settle(&self, estimate: &UsageEstimate, used: &Usage, extensions: &RequestExtensions);

    /// Removes the reservation.
    fn release(&self, estimate: &UsageEstimate, extensions: &RequestExtensions);
}

impl<B: Budget + ?Sized> Budget for Arc<B> {
    fn reserve(
        &self,
        estimate: &UsageEstimate,
        extensions: &RequestExtensions,
    ) -> Result<(), BudgetError> {
        (**self).reserve(estimate, extensions)
    }

    fn settle(&self, estimate: &UsageEstimate, used: &Usage, extensions: &RequestExtensions) {
        (**self).settle(estimate, used, extensions);
    }

    fn release(&self, estimate: &UsageEstimate, extensions: &RequestExtensions) {
        (**self).release(estimate, extensions);
    }
}

/// No limits: every operation may be sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl Budget for Unlimited {
    fn reserve(&self, _: &UsageEstimate, _: &RequestExtensions) -> Result<(), BudgetError> {
        Ok(())
    }

    fn settle(&self, _: &UsageEstimate, _: &Usage, _: &RequestExtensions) {}

    fn release(&self, _: &UsageEstimate, _: &RequestExtensions) {}
}

/// Reason for which a budget refuses an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The estimate exceeds the rest of a [`UsageBudget`].
    #[error(
        "the budget of {limit} {unit} has {left} left, and the operation may need {needed}; raise the limit, or lower the estimate"
    )]
    Exceeded {
        /// Unit: `tokens` or `cost_micros`.
        unit: &'static str,
        /// The limit of the budget.
        limit: u64,
        /// Neither used nor reserved.
        left: u64,
        /// The estimate.
        needed: u64,
    },
    /// A custom budget refuses.
    #[error("the budget refuses the operation: {0}")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
}

impl BudgetError {
    /// Creates the refusal of a custom budget.
    pub fn refused(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        BudgetError::Refused(reason.into())
    }
}

/// A [`Budget`] with counters. Clones share one budget.
///
/// An operation is refused if the rest of a limit is zero, or less than the estimate; a limit of
/// zero allows nothing. Usage counts in full, also above the estimate. Counters saturate at the
/// largest number.
///
/// ```
/// use hooks_runtime::RequestExtensions;
/// use hooks_runtime::model::{Budget, Usage, UsageBudget, UsageEstimate};
///
/// let budget = UsageBudget::new().limit_tokens(100);
/// let (estimate, extensions) = (UsageEstimate::tokens(60), RequestExtensions::new());
/// budget.reserve(&estimate, &extensions).unwrap();
/// assert!(budget.reserve(&estimate, &extensions).is_err());
/// budget.settle(&estimate, &Usage::tokens(10, 5), &extensions);
/// assert_eq!(budget.used().tokens, 15);
/// budget.reserve(&estimate, &extensions).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct UsageBudget {
    tokens: Option<u64>,
    cost_micros: Option<u64>,
    counters: Arc<Mutex<UsageCounters>>,
}

#[derive(Debug, Default)]
struct UsageCounters {
    used: UsageEstimate,
    reserved: UsageEstimate,
}

impl UsageBudget {
    /// Creates a budget without limits; only the sum of reservations must fit its type.
    pub fn new() -> Self {
        UsageBudget::default()
    }

    /// Limits the sum of input and output tokens.
    #[must_use]
    pub fn limit_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the cost, in millionths.
    #[must_use]
    pub fn limit_cost_micros(mut self, cost_micros: u64) -> Self {
        self.cost_micros = Some(cost_micros);
        self
    }

    /// Returns the usage of finished operations.
    pub fn used(&self) -> UsageEstimate {
        self.counters().used
    }

    /// Returns the reservations of running operations.
    pub fn reserved(&self) -> UsageEstimate {
        self.counters().reserved
    }

    fn counters(&self) -> MutexGuard<'_, UsageCounters> {
        lock(&self.counters)
    }
}

impl Budget for UsageBudget {
    fn reserve(&self, estimate: &UsageEstimate, _: &RequestExtensions) -> Result<(), BudgetError> {
        let mut counters = self.counters();
        let (used, reserved) = (counters.used, counters.reserved);
        fits(
            "tokens",
            self.tokens,
            used.tokens.saturating_add(reserved.tokens),
            estimate.tokens,
        )?;
        fits(
            "cost_micros",
            self.cost_micros,
            used.cost_micros.saturating_add(reserved.cost_micros),
            estimate.cost_micros,
        )?;
        // Refuse an overflow: a saturated sum would be released as more than was reserved.
        let (Some(tokens), Some(cost_micros)) = (
            reserved.tokens.checked_add(estimate.tokens),
            reserved.cost_micros.checked_add(estimate.cost_micros),
        ) else {
            return Err(BudgetError::refused(
                "the reservations are too large to count",
            ));
        };
        counters.reserved = UsageEstimate {
            tokens,
            cost_micros,
        };
        Ok(())
    }

    fn settle(&self, estimate: &UsageEstimate, used: &Usage, extensions: &RequestExtensions) {
        self.release(estimate, extensions);
        let mut counters = self.counters();
        let cost = used.cost_micros.unwrap_or(estimate.cost_micros);
        counters.used.tokens = counters.used.tokens.saturating_add(used.total_tokens());
        counters.used.cost_micros = counters.used.cost_micros.saturating_add(cost);
    }

    fn release(&self, estimate: &UsageEstimate, _: &RequestExtensions) {
        let reserved = &mut self.counters().reserved;
        reserved.tokens = reserved.tokens.saturating_sub(estimate.tokens);
        reserved.cost_micros = reserved.cost_micros.saturating_sub(estimate.cost_micros);
    }
}

fn fits(
    unit: &'static str,
    limit: Option<u64>,
    taken: u64,
    needed: u64,
) -> Result<(), BudgetError> {
    let Some(limit) = limit else { return Ok(()) };
    let left = limit.saturating_sub(taken);
    if left == 0 || needed > left {
        return Err(BudgetError::Exceeded {
            unit,
            limit,
            left,
            needed,
        });
    }
    Ok(())
}

impl fmt::Debug for UsageBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = self.counters();
        f.debug_struct("UsageBudget")
            .field("limit_tokens", &self.tokens)
            .field("limit_cost_micros", &self.cost_micros)
            .field("used", &counters.used)
            .field("reserved", &counters.reserved)
            .finish()
    }
}

/// Reservation of one operation; dropping it releases or settles it.
pub(crate) struct Reservation<'a> {
    budget: &'a dyn Budget,
    extensions: &'a RequestExtensions,
    estimate: UsageEstimate,
    used: Option<Usage>,
    progress: OperationProgress,
}

/// Progress of an operation.
enum OperationProgress {
    NotStarted,
    Started,
    Whole,
}

impl<'a> Reservation<'a> {
    pub(crate) fn new(
        budget: &'a dyn Budget,
        estimate: UsageEstimate,
        extensions: &'a RequestExtensions,
    ) -> Result<Self, BudgetError> {
        budget.reserve(&estimate, extensions)?;
        Ok(Reservation {
            budget,
            extensions,
            estimate,
            used: None,
            progress: OperationProgress::NotStarted,
        })
    }

    /// Records that the adapter has begun to respond: from now on the operation costs.
    pub(crate) fn response_started(&mut self) {
        self.progress = OperationProgress::Started;
    }

    /// Records the usage so far.
    pub(crate) fn note(&mut self, used: Usage) {
        self.used = Some(used);
    }

    /// Settles the usage at the end of the response.
    pub(crate) fn settle(mut self) {
        self.progress = OperationProgress::Whole;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let Reservation {
            budget,
            extensions,
            estimate,
            ..
        } = self;
        let used = match (&self.progress, self.used) {
            (OperationProgress::NotStarted, _) => return budget.release(estimate, extensions),
            (OperationProgress::Whole, Some(used)) => used,
            (OperationProgress::Whole | OperationProgress::Started, used) => {
                used.unwrap_or_default().at_least(estimate)
            }
        };
        budget.settle(estimate, &used, extensions);
    }
}

#[cfg(test)]
mod tests {
    use hooks_core::RequestExtensions;

    use super::{Budget, Usage, UsageBudget, UsageEstimate};

    fn reserve(budget: &UsageBudget, estimate: UsageEstimate) -> Result<(), String> {
        let reserved = budget.reserve(&estimate, &RequestExtensions::new());
        reserved.map_err(|error| error.to_string())
    }

    #[test]
    fn t_70_a_zero_limit_refuses_all_and_no_limit_allows_all() {
        assert!(
            reserve(
                &UsageBudget::new().limit_tokens(0),
                UsageEstimate::default()
            )
            .is_err()
        );
        assert!(
            reserve(
                &UsageBudget::new().limit_cost_micros(0),
                UsageEstimate::tokens(1)
            )
            .is_err()
        );
        assert!(reserve(&UsageBudget::new(), UsageEstimate::tokens(u64::MAX)).is_ok());
    }

    #[test]
    fn t_70_a_limit_can_be_reached_but_not_exceeded() {
        let budget = UsageBudget::new().limit_tokens(10);
        reserve(&budget, UsageEstimate::tokens(10)).unwrap();
        let refusal = reserve(&budget, UsageEstimate::default()).unwrap_err();
        assert_eq!(
            refusal,
            "the budget of 10 tokens has 0 left, and the operation may need 0; raise the limit, or lower the estimate"
        );
    }

    #[test]
    fn t_70_overflowing_sums_are_refused_and_usage_saturates() {
        let budget = UsageBudget::new().limit_tokens(u64::MAX);
        reserve(&budget, UsageEstimate::tokens(u64::MAX - 1)).unwrap();
        assert!(reserve(&budget, UsageEstimate::tokens(2)).is_err());

        let unlimited = UsageBudget::new();
        reserve(&unlimited, UsageEstimate::tokens(u64::MAX)).unwrap();
        assert!(reserve(&unlimited, UsageEstimate::tokens(1)).is_err());

        let used = Usage::tokens(u64::MAX, u64::MAX);
        unlimited.settle(&UsageEstimate::default(), &used, &RequestExtensions::new());
        assert_eq!(unlimited.used().tokens, u64::MAX);
    }

    #[test]
    fn t_70_a_partial_response_counts_at_least_the_estimate() {
        let estimate = UsageEstimate::tokens(10).cost_micros(70);
        let half = |used: Usage| used.at_least(&estimate);
        assert_eq!(half(Usage::default()), Usage::tokens(0, 10));
        assert_eq!(half(Usage::tokens(5, 1)), Usage::tokens(5, 5));
        assert_eq!(half(Usage::tokens(5, 9)), Usage::tokens(5, 9));
        let priced = |cost| Usage::tokens(5, 9).cost_micros(cost);
        assert_eq!(half(priced(3)), priced(70));
        assert_eq!(half(priced(71)), priced(71));
    }

    #[test]
    fn t_70_an_unknown_cost_is_charged_as_estimated() {
        let budget = UsageBudget::new().limit_cost_micros(100);
        let estimate = UsageEstimate::tokens(1).cost_micros(70);
        reserve(&budget, estimate).unwrap();
        budget.settle(&estimate, &Usage::tokens(1, 1), &RequestExtensions::new());
        assert_eq!(budget.used().cost_micros, 70);
        assert!(reserve(&budget, UsageEstimate::default().cost_micros(31)).is_err());
    }
}
