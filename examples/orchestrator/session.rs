//! A session: prompts of the user, and the agents that handle them.

use hooks_runtime::Message;
use hooks_runtime::approval::FixedAnswers;
use hooks_runtime::model::HookedModel;
use serde_json::json;

use crate::agent::Agent;
use crate::host::{Host, most};

/// A session from start to end.
pub(crate) struct Session {
    host: Host,
    agent: Agent,
}

impl Session {
    pub(crate) async fn open(id: &str, model: HookedModel<'static>, user: FixedAnswers) -> Self {
        let mut session = Session {
            host: Host::new(id, user),
            agent: Agent::new(model),
        };
        session.host.tell("session:start", json!({})).await;
        session
    }

    /// Handles a prompt and shows the response.
    pub(crate) async fn prompt(&mut self, prompt: &str) {
        println!("\nuser: {prompt}");
        let host = &mut self.host;
        match host.emit("prompt:submit", json!({"prompt": prompt})).await {
            Err(denial) => {
                println!("refused: {denial}");
                return;
            }
            Ok(data) => {
                let prompt = data.get("prompt").and_then(|prompt| prompt.as_str());
                host.say(Message::user(prompt.unwrap_or_default()));
            }
        }

        let agents = json!({"prompt": prompt, "available_agents": ["builder", "writer"]});
        let votes = host.decide("decision:agent_resolution", agents).await;
        let name = most(&votes, "agent").unwrap_or("builder").to_owned();
        if let Err(denial) = host.emit("agent:spawn", json!({"agent": name})).await {
            println!("refused: {denial}");
            return;
        }
        match self.agent.run(host, prompt).await {
            Ok(answer) => {
                let done = json!({"agent": name, "answer": answer});
                host.tell("agent:complete", done).await;
                // Hooks may rewrite or suppress the response.
                match host
                    .emit("user:notification", json!({"text": answer}))
                    .await
                {
                    Ok(told) => println!("agent: {}", told["text"]),
                    Err(denial) => println!("suppressed: {denial}"),
                }
            }
            Err(why) => {
                let failed = json!({"agent": name, "error_message": why});
                host.tell("error:orchestration", failed).await;
                println!("the agent failed: {why}");
            }
        }
        host.tell("orchestrator:complete", json!({"prompt": prompt}))
            .await;
    }

    pub(crate) async fn close(mut self) {
        println!();
        let messages = self.host.length();
        self.host
            .tell("session:end", json!({"messages": messages}))
            .await;
        self.host.close();
    }
}
