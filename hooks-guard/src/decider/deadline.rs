//! Time limits of a decision. In: the kind of the trail, the start of the hook and the deadline of
//! the reply. Out: the deadline of this process's own work with the trail.

use std::time::Duration;

use tokio::time::Instant;

use crate::audit::MAX_QUEUE_TIME;

/// Timeout of a decision of the service: two seconds for the classification, the rest for writing
/// the record.
pub(super) const DECISION_TIMEOUT: Duration = Duration::from_secs(3);

/// Timeout of the handshake. The service needs neither its trail nor its rules for it, so only a
/// stopped service or an overloaded machine takes longer.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(600);

/// Timeout of a decision of this process with a trail on a server, from the start of the hook. Another
/// process, such as a stopped service, may have locked the trail.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(900);

/// Timeout of a decision of this process if the service failed later than [`LOCAL_TIMEOUT`].
const LATE_LOCAL_TIMEOUT: Duration = Duration::from_millis(500);

/// Timeout of a decision of this process with a trail in a file, besides the time in the queue of
/// hooks. The file reports locks of other programs itself, earlier; only an overloaded machine or a
/// disk that does not respond takes longer.
const FILE_TIMEOUT: Duration = Duration::from_secs(1);

/// The kind of a trail, on which the time for its use depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrailKind {
    /// A file that does not exist yet: creating it takes longer, and no process can have locked it.
    NewFile,
    File,
    /// A server, or a trail in memory.
    Server,
}

impl TrailKind {
    /// Returns the deadline of this process's own work with the trail. `began` is the start of the
    /// hook, and `deadline` the deadline of its reply.
    pub(super) fn deadline(self, began: Instant, now: Instant, deadline: Instant) -> Instant {
        let soon = match self {
            Self::NewFile => deadline,
            Self::File => now + MAX_QUEUE_TIME + FILE_TIMEOUT,
            Self::Server => {
                let soon = began + LOCAL_TIMEOUT;
                // A handshake that timed out still leaves enough time.
                let is_enough =
                    soon.saturating_duration_since(now) >= (LOCAL_TIMEOUT - HANDSHAKE_TIMEOUT) / 2;
                match is_enough {
                    true => soon,
                    false => now + LATE_LOCAL_TIMEOUT,
                }
            }
        };
        soon.min(deadline)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{HANDSHAKE_TIMEOUT, LATE_LOCAL_TIMEOUT, LOCAL_TIMEOUT, TrailKind};
    use crate::audit::MAX_QUEUE_TIME;

    const KINDS: [TrailKind; 3] = [TrailKind::NewFile, TrailKind::File, TrailKind::Server];

    #[test]
    fn no_trail_gets_time_after_the_deadline_of_the_reply() {
        let began = Instant::now();
        let deadline = began + Duration::from_millis(300);
        for kind in KINDS {
            for elapsed in [0, 100, 300, 900] {
                let now = began + Duration::from_millis(elapsed);
                assert!(kind.deadline(began, now, deadline) <= deadline, "{kind:?}");
            }
        }
    }

    #[test]
    fn a_server_gets_enough_time_after_each_failure_of_the_service() {
        let began = Instant::now();
        let deadline = began + Duration::from_secs(60);
        let own = |elapsed| {
            let now = began + elapsed;
            TrailKind::Server.deadline(began, now, deadline) - now
        };
        assert_eq!(own(Duration::ZERO), LOCAL_TIMEOUT);
        assert_eq!(own(HANDSHAKE_TIMEOUT), LOCAL_TIMEOUT - HANDSHAKE_TIMEOUT);
        for late in [LOCAL_TIMEOUT, Duration::from_secs(3)] {
            assert_eq!(own(late), LATE_LOCAL_TIMEOUT);
        }
    }

    #[test]
    fn a_file_gets_the_time_of_its_queue_and_a_new_file_all_time() {
        let began = Instant::now();
        let deadline = began + Duration::from_secs(60);
        let now = began + Duration::from_secs(4);
        assert!(TrailKind::File.deadline(began, now, deadline) > now + MAX_QUEUE_TIME);
        assert_eq!(TrailKind::NewFile.deadline(began, now, deadline), deadline);
    }
}
