//! How does a host emit each of the sixteen standard events, and apply the results?
//!
//! ```text
//! cargo run --example orchestrator
//! ```
//!
//! The program is the complete loop of an agent around a model, with every decision open to
//! plugins. Model and user are scripted, so nothing is sent and the output is always identical.
//! [`plugins`] registers hooks that do not know this program; [`host`] emits events and applies
//! their results; a [`session`] handles prompts; [`agent`] is the loop between the [`model`] and
//! its [`tools`].

mod agent;
mod host;
mod model;
mod plugins;
mod session;
mod tools;

use hooks_runtime::approval::FixedAnswers;
use hooks_runtime::model::{HookedModel, ModelHooksSet, UsageBudget};

use crate::session::Session;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = ModelHooksSet::new().with_hooks(plugins::Accountant);
    let model = HookedModel::with_hooks(
        model::script(),
        UsageBudget::new().limit_tokens(10_000),
        hooks,
    );
    // The user is asked once and allows it.
    let user = FixedAnswers::labels(["Allow always"]);
    let mut session = Session::open("sess-1", model, user).await;

    session.prompt("Run the tests and deploy to eu.").await;
    session.prompt("Deploy to the moon.").await;
    session.prompt("Tell me about my secrets.").await;
    session.prompt("Anything else?").await;

    session.close().await;
}
