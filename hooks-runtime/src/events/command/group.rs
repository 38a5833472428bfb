//! Process groups of hooks that are programs.

use tokio::process::Child;

/// The processes of a hook; dropping it kills them.
pub(crate) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group {
            leader: id.and_then(rustix::process::Pid::from_raw),
        }
    }

    // Without process groups, tokio kills the program itself.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Child) -> Self {
        Group {}
    }

    /// Returns `true` if one of the processes still runs.
    #[cfg(unix)]
    pub(crate) fn is_alive(&self) -> bool {
        let alive = |leader| rustix::process::test_kill_process_group(leader).is_ok();
        self.leader
            .is_some_and(|leader| alive(leader) && !has_ended(leader))
    }

    // Processes cannot be listed on this system.
    #[cfg(not(unix))]
    pub(crate) fn is_alive(&self) -> bool {
        false
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // If all of them have ended, there is nothing to kill.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Returns `true` if all processes of a group that can still be sent signals are zombies, which
/// wait for their parents; in a container, these may never be reaped. Returns `false` if the system
/// does not list processes.
#[cfg(target_os = "linux")]
fn has_ended(leader: rustix::process::Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let mut found = false;
    for process in processes.flatten() {
        // Entries that are not processes, or have ended, have no such file.
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else {
            continue;
        };
        let Some((state, group)) = state_and_group(&stat) else {
            continue;
        };
        if group == leader.as_raw_nonzero().get() {
            if !matches!(state, "Z" | "X") {
                return false;
            }
            found = true;
        }
    }
    found
}

/// Returns the state and the process group in a line of `/proc/…/stat`.
#[cfg(target_os = "linux")]
fn state_and_group(stat: &str) -> Option<(&str, i32)> {
    // The name of the program is in parentheses, and may contain parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let (state, _parent, group) = (fields.next()?, fields.next()?, fields.next()?);
    Some((state, group.parse().ok()?))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_ended(_: rustix::process::Pid) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::Duration;

    use rustix::process::{Pid, test_kill_process_group};

    use super::{Group, state_and_group};

    #[test]
    fn e_42_a_process_group_with_only_a_zombie_is_not_alive() {
        let mut child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let leader = Pid::from_child(&child);
        let group = Group {
            leader: Some(leader),
        };
        assert!(group.is_alive());
        drop(child.stdin.take());
        // No timeout: the machine may be slow, and a hang is visible.
        while group.is_alive() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(
            test_kill_process_group(leader).is_ok(),
            "the zombie still exists"
        );
        child.wait().unwrap();
    }

    #[test]
    fn e_42_a_program_name_with_parentheses_does_not_change_the_state() {
        let stat = "71 (a) Z 1 2 (b) S 1 70 70 0 -1";
        assert_eq!(state_and_group(stat), Some(("S", 70)));
        assert_eq!(state_and_group("71 (a"), None);
    }
}
