//! seccomp: which system calls are refused.
//!
//! Landlock and the namespaces say which files there are; this closes what they
//! leave open: sockets, `io_uring` (which would go round this very filter),
//! what reaches other processes of the same user, what could undo the locks.
//! Everything not named here works.

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::ConfineError;

/// What the other locks leave to this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// Processes outside can be seen, and signalled if `signals` says so.
    pub(super) processes: bool,
    /// Landlock does not keep signals in.
    pub(super) signals: bool,
    /// The user owns files outside, whose mode, owner and times Landlock does not
    /// look at and no other lock protects.
    pub(super) metadata: bool,
}

/// Refuses the calls for good, for this process and what it starts.
pub(super) fn restrict(gaps: Gaps) -> Result<(), ConfineError> {
    let mut refused = Refused::default();
    refused.all(NETWORK);
    refused.all(ESCAPES);
    refused.all(ADMINISTRATION);
    refused.all(SHARED_MEMORY_AND_QUEUES);
    refused.all(LEGACY);
    // A connected pair within the process is no way out; any other kind of pair
    // can be pointed at another socket.
    refused.unless_equal(libc::SYS_socketpair, 0, libc::AF_UNIX as u64);
    refused.unless_masked(libc::SYS_socketpair, 1, 0xf, libc::SOCK_STREAM as u64);
    for flag in NEW_NAMESPACES {
        refused.if_masked(libc::SYS_clone, 0, *flag as u64);
    }
    for command in [TIOCSTI, TIOCLINUX] {
        refused.if_equal(libc::SYS_ioctl, 1, command);
    }
    if gaps.processes {
        // A call that left its process group would outlive it.
        refused.all(&[libc::SYS_setsid, libc::SYS_setpgid]);
    }
    for call in OF_ANOTHER_PROCESS {
        // Zero is the caller itself.
        refused.unless_equal(*call, 0, 0);
    }
    if gaps.signals {
        refused.all(SIGNALS);
        for command in [libc::F_SETOWN, F_SETOWN_EX] {
            refused.if_equal(libc::SYS_fcntl, 1, command as u64);
        }
    }
    if gaps.metadata {
        refused.all(METADATA);
        for command in INODE_FLAGS {
            refused.if_equal(libc::SYS_ioctl, 1, *command);
        }
    }
    // `clone3` passes its flags in memory, which a filter cannot read: programs
    // are told that this kernel does not have it, and use `clone`.
    let mut absent = Refused::default();
    absent.all(&[libc::SYS_clone3]);
    seccompiler::apply_filter(&absent.program(libc::ENOSYS)?)?;
    seccompiler::apply_filter(&refused.program(libc::EPERM)?)?;
    // These are told that it worked, and nothing happens: a refusal would stop
    // git, sed and others, which set a mode but can do without.
    if gaps.metadata {
        let mut pretended = Refused::default();
        pretended.all(MODE_OWNER_TIMES);
        pretended.all(LEGACY_MODE_OWNER_TIMES);
        seccompiler::apply_filter(&pretended.program(0)?)?;
    }
    Ok(())
}

/// Rules for a filter, by system call; no rule for a call means: always.
#[derive(Default)]
struct Refused(std::collections::BTreeMap<i64, Vec<Vec<Condition>>>);

type Condition = (u8, SeccompCmpOp, u64);

impl Refused {
    fn all(&mut self, calls: &[c_long]) {
        for call in calls {
            self.0.insert(*call, Vec::new());
        }
    }

    fn when(&mut self, call: c_long, condition: Condition) {
        self.0.entry(call).or_default().push(vec![condition]);
    }

    fn if_equal(&mut self, call: c_long, argument: u8, value: u64) {
        self.when(call, (argument, SeccompCmpOp::Eq, value));
    }

    fn unless_equal(&mut self, call: c_long, argument: u8, value: u64) {
        self.when(call, (argument, SeccompCmpOp::Ne, value));
    }

    fn if_masked(&mut self, call: c_long, argument: u8, bit: u64) {
        self.when(call, (argument, SeccompCmpOp::MaskedEq(bit), bit));
    }

    /// Unless the bits of `mask` hold exactly `value`, one rule for each other value.
    fn unless_masked(&mut self, call: c_long, argument: u8, mask: u64, value: u64) {
        for other in (0..=mask).filter(|other| *other != value) {
            self.when(call, (argument, SeccompCmpOp::MaskedEq(mask), other));
        }
    }

    fn program(self, errno: i32) -> Result<BpfProgram, ConfineError> {
        let mut rules = std::collections::BTreeMap::new();
        for (call, alternatives) in self.0 {
            let alternatives = alternatives
                .into_iter()
                .map(|conditions| {
                    let conditions = conditions.into_iter().map(|(argument, operator, value)| {
                        // The kernel looks at 32 bits of each of these arguments.
                        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
                    });
                    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
                })
                .collect::<Result<Vec<_>, seccompiler::BackendError>>()?;
            #[cfg(target_arch = "x86_64")]
            rules.insert(call | X32, alternatives.clone());
            rules.insert(call, alternatives);
        }
        // Calls that have a number of their own there; nothing needs them.
        #[cfg(target_arch = "x86_64")]
        rules.extend((512..=547).map(|call| (call | X32, Vec::new())));
        let action = SeccompAction::Errno(errno as u32);
        let arch: TargetArch = std::env::consts::ARCH.try_into()?;
        Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?)
    }
}

/// Some x86-64 kernels know each call by a second number, which has this bit.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

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

/// What would undo a lock, or reach into another process.
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
];

/// What processes of one user share without a file.
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

const MODE_OWNER_TIMES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_fsetxattr,
];

const METADATA: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    SYS_SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    // Landlock knows it from version 3 on.
    libc::SYS_truncate,
];

#[cfg(target_arch = "x86_64")]
const LEGACY: &[c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
];
#[cfg(not(target_arch = "x86_64"))]
const LEGACY: &[c_long] = &[];

#[cfg(target_arch = "x86_64")]
const LEGACY_MODE_OWNER_TIMES: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const LEGACY_MODE_OWNER_TIMES: &[c_long] = &[];

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

// Typing into a terminal.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const F_SETOWN_EX: i32 = 15;

// Newer than the names that `libc` has; the numbers are those of every architecture.
const SYS_LSM_SET_SELF_ATTR: c_long = 460;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;
