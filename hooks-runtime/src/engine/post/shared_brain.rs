//! `shared-brain`: lessons of one session, for other sessions.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Serialize;

use crate::engine::session::Lesson;
use crate::engine::storage::Storage;
use crate::engine::workspace::content_hash;
use crate::{HookError, PostHook, ToolResult};

hook_with_file! {
    /// Writes the lessons that the session has learned since the last time: denials for scope,
    /// stale writes, halts, failed checks, drift, and lessons that a host's own hooks
    /// [add](crate::engine::Session::learn).
    ///
    /// | | |
    /// |---|---|
    /// | Input | the pending lessons of the session, on every result with an intent |
    /// | Effect | written lessons are no longer pending; the others stay pending |
    /// | Storage | `lessons.jsonl`, append-only: time, kind, intent, subject, lesson, and a key by which no process writes an equal lesson twice |
    ///
    /// Without a storage lessons stay pending, and the oldest are dropped at the limit.
    SharedBrain, crate::engine::record::LESSONS
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(serialize_with = "crate::timestamp::serialize")]
    at: Timestamp,
    key: &'a str,
    #[serde(flatten)]
    lesson: &'a Lesson,
}

fn write_down(storage: &Storage, lessons: &mut VecDeque<Lesson>) -> std::io::Result<()> {
    while let Some(lesson) = lessons.front() {
        let key = content_hash(serde_json::to_vec(lesson)?);
        let line = Line {
            at: Timestamp::now(),
            key: &key,
            lesson,
        };
        storage.append_unless(SharedBrain::FILE, &line, |old| old.contains(&*key))?;
        lessons.pop_front();
    }
    Ok(())
}

#[diagnostic::do_not_recommend]
impl PostHook<ToolResult> for SharedBrain {
    fn id(&self) -> &str {
        "shared-brain"
    }

    async fn execute(&self, result: &ToolResult, _: Option<&str>) -> Result<(), HookError> {
        if self.context.intent_of(&result.request).is_none() {
            return Ok(());
        }
        let Some(storage) = self.context.storage().cloned() else {
            return Ok(());
        };
        let written = self.context.blocking(move |context| {
            let mut lessons = context.session().take_lessons();
            let written = write_down(&storage, &mut lessons);
            context.session().give_back(lessons);
            written
        });
        Ok(written.await??)
    }
}
