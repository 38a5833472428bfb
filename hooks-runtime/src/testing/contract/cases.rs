//! The cases for every hook.

use std::time::Duration;

use serde_json::{Value, json};

use super::case::{ContractCase, contract_case};
use super::payloads;
use super::subject::Finding;
use super::trial::Trial;
use crate::Map;
use crate::events::STANDARD;

contract_case! {
    /// Usual data have a valid result.
    returns_valid_results, "return a `HookResult` with valid fields",
    |trial| {
        trial.ask_each(&Value::Object(payloads::ordinary())).await
    }
}

contract_case! {
    /// An event may have no data.
    survives_empty_data, "handle missing fields",
    |trial| {
        trial.ask_each(&Value::Object(Map::new())).await
    }
}

contract_case! {
    /// Null is an object without fields, and any field may be null.
    survives_null_data, "treat a field that is `null` as missing",
    |trial| {
        trial.ask_each(&Value::Null).await?;
        trial.ask_each(&payloads::with_all(&Value::Null)).await?;
        trial.ask_each(&payloads::with_all_input(&Value::Null)).await
    }
}

contract_case! {
    /// A hook may be registered for any of them.
    handles_every_standard_event, "return `Continue` for events that the hook does not handle",
    |trial| {
        let data = Value::Object(payloads::ordinary());
        for event in STANDARD {
            trial.ask(event, &data).await?;
        }
        Ok(())
    }
}

contract_case! {
    /// Events need no declaration, so a name can be anything.
    handles_an_unknown_event, "return `Continue` for unknown events",
    |trial| {
        let data = Value::Object(payloads::ordinary());
        let long = "long:".repeat(200);
        for event in ["no:such:event", "no-colon", "", " Tool:Pre ", "größe:✓", "a\n'\"b", &long] {
            trial.ask(event, &data).await?;
        }
        Ok(())
    }
}

contract_case! {
    /// The content of a file can be a mebibyte.
    survives_a_huge_text, "limit the work per text, and read all input before writing output",
    |trial| {
        trial.ask_each(&payloads::huge_text()).await
    }
}

contract_case! {
    /// The number of fields is unlimited.
    survives_many_fields, "limit the work per field, and skip fields that the hook does not need",
    |trial| {
        trial.ask_each(&payloads::many_fields()).await
    }
}

contract_case! {
    /// Their depth is unlimited.
    survives_deep_nesting, "limit the depth to which the hook reads values",
    |trial| {
        trial.ask_each(&payloads::nested(|inner| json!([inner]))).await?;
        trial.ask_each(&payloads::nested(|inner| json!({"inner": inner}))).await
    }
}

contract_case! {
    /// A field for text can contain another type.
    survives_wrong_types, "check the type of a field before using it",
    |trial| {
        for value in payloads::wrong_types() {
            trial.ask_each(&payloads::with_all(&value)).await?;
            trial.ask_each(&payloads::with_all_input(&value)).await?;
        }
        Ok(())
    }
}

contract_case! {
    /// Texts and keys are any Unicode, NUL included.
    survives_odd_text, "treat text as data, whatever it contains",
    |trial| {
        for text in payloads::odd_texts() {
            trial.ask_each(&payloads::with_all(&json!(text))).await?;
        }
        trial.ask_each(&payloads::odd_keys()).await
    }
}

contract_case! {
    /// A hook may count its calls, and return other results; it must not fail.
    handles_repeated_events, "leave no state that breaks later calls",
    |trial| {
        for _ in 0..10 {
            trial.ask_each(&Value::Object(payloads::ordinary())).await?;
        }
        Ok(())
    }
}

contract_case! {
    /// Events may be emitted from several threads.
    handles_concurrent_events, "hold no lock that another call of the hook waits for",
    |trial| {
        trial.ask_at_once(8, &Value::Object(payloads::ordinary())).await
    }
}

contract_case! {
    /// A host may run all hooks concurrently.
    handles_collected_events, "return the same output for `emit_and_collect` as for `emit`",
    |trial| {
        let data = Value::Object(payloads::ordinary());
        for event in trial.events() {
            trial.collect(&event, &data).await?;
        }
        Ok(())
    }
}

contract_case! {
    /// A host may drop an emission at any moment.
    survives_being_dropped, "leave no partial state that later calls rely on",
    |trial| {
        let data = Value::Object(payloads::ordinary());
        for milliseconds in [0, 1, 10] {
            trial.ask_and_drop(Duration::from_millis(milliseconds), &data).await;
        }
        let event = trial.event();
        trial.ask(&event, &data).await
    }
}

contract_case! {
    /// A hook that is unregistered is no longer called, and can be registered again.
    unregisters, "drop the hook without a panic, and keep no copy of it registered",
    |trial| {
        let data = Value::Object(payloads::ordinary());
        let event = trial.event();
        for _ in 0..2 {
            trial.ask(&event, &data).await?;
            let sent = format!("the end of the registration for `{event}`");
            match trial.unregister(&event) {
                Ok(true) => {}
                Ok(false) => {
                    let came = "no registration that could end".to_owned();
                    return Err(Finding { sent, came });
                }
                Err(came) => return Err(Finding { sent, came }),
            }
            trial.ask_nobody(&event, &data).await?;
        }
        trial.drop_hook().map_err(|came| Finding {
            sent: "the end of the hook".to_owned(),
            came,
        })
    }
}
