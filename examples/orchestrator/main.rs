//! An agent's whole loop around a model, with every decision open to plugins: what a host does
//! with the sixteen standard events, in which order, and with what hooks answer.
//!
//! ```text
//! cargo run --example orchestrator
//! ```
//!
//! The model and the user are scripts, so that nothing is sent and nobody is asked; what is
//! printed is the same each time. [`plugins`] registers hooks that know nothing of this program;
//! [`host`] emits events and does what comes of them; a [`session`] takes prompts to answers;
//! [`agent`] is the loop between the [`model`] and its [`tools`].

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
    // The user is asked once, and says yes.
    let user = FixedAnswers::labels(["Allow always"]);
    let mut session = Session::open("sess-1", model, user).await;

    session.prompt("Run the tests and deploy to eu.").await;
    session.prompt("Deploy to the moon.").await;
    session.prompt("Tell me about my secrets.").await;
    session.prompt("Anything else?").await;

    session.close().await;
}
