//! Builds and installs a seccomp filter: listed system calls return a fixed result, all others run.

use std::collections::{BTreeMap, BTreeSet};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

use super::ConfineError;

/// Result of a filtered call, which does not run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// Not permitted.
    Refused,
    /// Not implemented by the kernel.
    Absent,
    /// Success.
    Pretended,
}

/// System calls that a filter intercepts.
#[derive(Debug, Default)]
pub(super) struct Filter {
    always: BTreeSet<c_long>,
    /// Calls filtered if one of their conditions holds.
    sometimes: BTreeMap<c_long, Vec<Condition>>,
}

#[derive(Debug)]
struct Condition {
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
}

impl Filter {
    pub(super) fn always(&mut self, calls: &[c_long]) {
        self.always.extend(calls);
    }

    /// Filters a call if the lower 32 bits of an argument, which are all that the kernel reads,
    /// equal `value`.
    pub(super) fn if_equal(&mut self, call: c_long, argument: u8, value: u64) {
        self.when(
            call,
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            value,
        );
    }

    /// Filters a call unless the lower 32 bits of an argument, which are all that the kernel reads,
    /// equal `value`.
    pub(super) fn unless_equal(&mut self, call: c_long, argument: u8, value: u64) {
        self.when(
            call,
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            value,
        );
    }

    /// Filters a call if all bits of `flag` are set.
    pub(super) fn if_set(&mut self, call: c_long, argument: u8, flag: u64) {
        self.when(
            call,
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(flag),
            flag,
        );
    }

    /// Filters a call unless the bits of `mask` equal `value`, with one condition for each other
    /// value.
    pub(super) fn unless_masked(&mut self, call: c_long, argument: u8, mask: u64, value: u64) {
        for other in (0..=mask).filter(|other| *other != value) {
            self.when(
                call,
                argument,
                SeccompCmpArgLen::Dword,
                SeccompCmpOp::MaskedEq(mask),
                other,
            );
        }
    }

    pub(super) fn if_null(&mut self, call: c_long, argument: u8) {
        self.when(call, argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0);
    }

    pub(super) fn unless_null(&mut self, call: c_long, argument: u8) {
        self.when(call, argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0);
    }

    /// Installs the filter permanently for this process and its children.
    pub(super) fn install(self, answer: Answer) -> Result<(), ConfineError> {
        let errno = match answer {
            Answer::Refused => libc::EPERM as u32,
            Answer::Absent => libc::ENOSYS as u32,
            Answer::Pretended => 0,
        };
        let mut rules = self.rules()?;
        if rules.is_empty() {
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        name_twice(&mut rules, matches!(answer, Answer::Refused));
        let arch = std::env::consts::ARCH.try_into()?;
        let answer = SeccompAction::Errno(errno);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?;
        let program: BpfProgram = filter.try_into()?;
        Ok(seccompiler::apply_filter(&program)?)
    }

    fn when(
        &mut self,
        call: c_long,
        argument: u8,
        length: SeccompCmpArgLen,
        operator: SeccompCmpOp,
        value: u64,
    ) {
        let condition = Condition {
            argument,
            length,
            operator,
            value,
        };
        self.sometimes.entry(call).or_default().push(condition);
    }

    fn rules(self) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
        let mut rules = BTreeMap::new();
        for (call, conditions) in self.sometimes {
            let alternatives = conditions.into_iter().map(|it| {
                let condition =
                    SeccompCondition::new(it.argument, it.length, it.operator, it.value)?;
                SeccompRule::new(vec![condition])
            });
            rules.insert(call, alternatives.collect::<Result<_, _>>()?);
        }
        // A call without conditions is always filtered.
        rules.extend(self.always.into_iter().map(|call| (call, Vec::new())));
        Ok(rules)
    }
}

/// Some x86-64 kernels accept a second number for each call, and a few calls under that number
/// only. No program needs those.
#[cfg(target_arch = "x86_64")]
fn name_twice(rules: &mut BTreeMap<c_long, Vec<SeccompRule>>, with_the_few: bool) {
    const SECOND: c_long = 0x4000_0000;
    let twins: Vec<_> = rules
        .iter()
        .map(|(call, rules)| (call | SECOND, rules.clone()))
        .collect();
    rules.extend(twins);
    if with_the_few {
        rules.extend((512..=547).map(|call| (call | SECOND, Vec::new())));
    }
}
