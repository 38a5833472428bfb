//! Limits of a response's size.

use crate::model::adapter::AdapterError;
use crate::model::input::RawToolCall;

/// The limits of one response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseLimits {
    pub(crate) response_bytes: usize,
    pub(crate) tool_calls: usize,
    pub(crate) argument_bytes: usize,
}

/// Assembles tool calls from pieces, within the limits.
pub(crate) struct Calls {
    limits: ResponseLimits,
    begun: usize,
}

impl Calls {
    pub(crate) fn within(limits: ResponseLimits) -> Self {
        Calls { limits, begun: 0 }
    }

    /// Begins a call without arguments.
    pub(crate) fn begin(&mut self, id: String, name: String) -> Result<RawToolCall, AdapterError> {
        if self.begun >= self.limits.tool_calls {
            return Err(AdapterError::TooLarge {
                what: "tool calls",
                limit: self.limits.tool_calls,
                setting: "max_tool_calls",
            });
        }
        self.begun += 1;
        Ok(RawToolCall::new(id, name, ""))
    }

    /// Appends to the arguments of a call.
    pub(crate) fn grow(&self, call: &mut RawToolCall, piece: &str) -> Result<(), AdapterError> {
        if call.arguments.len().saturating_add(piece.len()) > self.limits.argument_bytes {
            return Err(AdapterError::TooLarge {
                what: "bytes of arguments",
                limit: self.limits.argument_bytes,
                setting: "max_argument_bytes",
            });
        }
        call.arguments.push_str(piece);
        Ok(())
    }
}
