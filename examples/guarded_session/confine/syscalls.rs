//! seccomp: system calls that are refused.
//!
//! Landlock and the namespaces restrict files. This filter closes the remaining gaps: sockets,
//! `io_uring` (which would bypass this filter), access to other processes of the user, and calls
//! that could undo the confinement. All other calls work.

use libc::c_long;

use super::ConfineError;
use super::filter::{Answer, Filter};

/// Gaps of the other mechanisms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// Processes outside are visible, and so are file properties that Landlock does not control:
    /// times, attributes and owner.
    pub(super) outside: bool,
    /// Landlock does not restrict signals.
    pub(super) signals: bool,
    /// The user owns files outside and could change their mode.
    pub(super) modes: bool,
}

/// Refuses the calls permanently, for this process and its children.
pub(super) fn restrict(gaps: Gaps) -> Result<(), ConfineError> {
    let mut refused = Filter::default();
    for calls in [NETWORK, ESCAPES, ADMINISTRATION, SHARED_MEMORY_AND_QUEUES] {
        refused.always(calls);
    }
    // A connected pair within the process reaches nothing outside; other kinds of pairs can be
    // connected to another socket.
    refused.unless_equal(libc::SYS_socketpair, 0, libc::AF_UNIX as u64);
    refused.unless_masked(libc::SYS_socketpair, 1, 0xf, libc::SOCK_STREAM as u64);
    for flag in NEW_NAMESPACES {
        refused.if_set(libc::SYS_clone, 0, *flag as u64);
    }
    for command in [TIOCSTI, TIOCLINUX] {
        refused.if_equal(libc::SYS_ioctl, 1, command);
    }
    for call in OF_ANOTHER_PROCESS {
        // Zero is the caller itself.
        refused.unless_equal(*call, 0, 0);
    }
    if gaps.signals {
        refused.always(SIGNALS);
    }
    // Reports success without an effect: a refusal would stop git, sed and others, which set a mode
    // or a time but do not depend on it.
    let mut pretended = Filter::default();
    if gaps.outside {
        // A call that leaves its process group would outlive it.
        refused.always(&[libc::SYS_setsid, libc::SYS_setpgid]);
        // Signals that the kernel sends on behalf of a call.
        for command in [F_SETOWN, F_SETOWN_EX] {
            refused.if_equal(libc::SYS_fcntl, 1, command);
        }
        refused.always(ATTRIBUTES);
        for command in INODE_FLAGS {
            refused.if_equal(libc::SYS_ioctl, 1, *command);
        }
        // Without a path, the call is about an open file.
        refused.unless_null(libc::SYS_utimensat, 1);
        pretended.if_null(libc::SYS_utimensat, 1);
        pretended.always(&[libc::SYS_fchown, libc::SYS_fsetxattr]);
    }
    if gaps.modes {
        pretended.always(MODES);
    }
    // `clone3` passes its flags in memory, which a filter cannot read. It is reported as missing,
    // so programs use `clone`.
    let mut absent = Filter::default();
    absent.always(&[libc::SYS_clone3]);

    absent.install(Answer::Absent)?;
    refused.install(Answer::Refused)?;
    pretended.install(Answer::Pretended)
}

const NETWORK: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Calls that would undo the confinement or access another process.
const ESCAPES: &[c_long] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    SYS_LSM_SET_SELF_ATTR,
];

const ADMINISTRATION: &[c_long] = &[
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls for objects that processes of one user share without a file.
const SHARED_MEMORY_AND_QUEUES: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls whose first argument is a process, zero for the caller.
const OF_ANOTHER_PROCESS: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
];

const SIGNALS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// Calls that change a file without opening it for writing, except its mode.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    SYS_SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_fchownat,
    // Landlock controls it from version 3 on.
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

const MODES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
];

const NEW_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// `FS_IOC_SETFLAGS`, `FS_IOC32_SETFLAGS`, `FS_IOC_SETVERSION`,
/// `FS_IOC_FSSETXATTR`, `FS_IOC_ENABLE_VERITY`, `FS_IOC_SET_ENCRYPTION_POLICY`.
const INODE_FLAGS: &[u64] = &[
    0x4008_6602,
    0x4004_6602,
    0x4008_7602,
    0x401c_5820,
    0x4080_6685,
    0x800c_6613,
];

// Inserts input into a terminal.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const F_SETOWN: u64 = 8;
const F_SETOWN_EX: u64 = 15;

// Newer than the constants that every `libc` has; the numbers are identical on all architectures.
const SYS_FCHMODAT2: c_long = 452;
const SYS_LSM_SET_SELF_ATTR: c_long = 460;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;
