//! [`Shells`]: the shells that may read a text.

use std::ops::BitOr;

/// Shells that may read a command. What only one of them would run counts.
///
/// ```
/// use hooks_classify::{Classifier, Decision, Shells};
///
/// // Shells without `[[` write the file `b`.
/// let command = "[[ a > b ]]";
/// let decision = |classifier: Classifier| classifier.classify(command).map(|found| found.decision);
/// assert_eq!(decision(Classifier::new()), Ok(Decision::RequiresConfirmation));
/// let bash = Classifier::new().with_shells(Shells::BASH | Shells::ZSH);
/// assert_eq!(decision(bash), Ok(Decision::AutoAllowed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shells(u8);

impl Shells {
    /// bash that is given a text or a file.
    pub const BASH: Self = Self(1);
    /// zsh that is given a text or a file.
    pub const ZSH: Self = Self(2);
    /// zsh to which the command is typed, as agents do that work in a terminal: `#` is a word there,
    /// and `!word` an earlier command.
    pub const ZSH_INTERACTIVE: Self = Self(4);
    /// ksh93 and yash.
    pub const KSH: Self = Self(8);
    /// mksh.
    pub const MKSH: Self = Self(16);
    /// dash, busybox and posh: shells with little more than POSIX.
    pub const DASH: Self = Self(32);
    /// Every shell that may be `sh`.
    pub const SH: Self = Self(1 | 8 | 16 | 32);
    /// All shells.
    pub const ALL: Self = Self(63);

    /// Returns these shells and the others.
    #[must_use]
    pub const fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns `true` if one of these shells is among the others.
    #[must_use]
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// zsh in each way.
    pub(crate) const ANY_ZSH: Self = Self(2 | 4);
    /// Shells other than zsh.
    pub(crate) const OTHER_THAN_ZSH: Self = Self(1 | 8 | 16 | 32);
    /// Shells in which `time` may be a program.
    pub(crate) const WITHOUT_TIME: Self = Self(8 | 32);
    /// Shells in which `time -p` may be a program.
    pub(crate) const WITHOUT_POSIX_TIME: Self = Self(2 | 4 | 8 | 32);
    /// Shells without brace expansion, or in which it is off.
    pub(crate) const WITHOUT_BRACES: Self = Self(8 | 32);
    /// Shells without `$'…'`: the text ends at the first quote.
    pub(crate) const WITHOUT_ANSI_QUOTES: Self = Self(8 | 32);
    /// Shells in which a brace in the value of a variable may begin a brace expansion.
    pub(crate) const BRACES_AFTER_VARIABLES: Self = Self(8 | 16);
    /// Shells without `[[ … ]]` and `(( … ))`: they read commands there.
    pub(crate) const WITHOUT_TESTS: Self = Self::DASH;
    /// Shells without `function NAME`: they read a command there.
    pub(crate) const WITHOUT_FUNCTION_KEYWORD: Self = Self::DASH;
    /// Shells in which `command NAME` runs a program, even if the shell has a builtin of this name.
    pub(crate) const COMMAND_SKIPS_BUILTINS: Self = Self::ANY_ZSH;
    /// Shells in which `builtin NAME` runs no builtin.
    pub(crate) const WITHOUT_BUILTIN_CALL: Self = Self(8 | 32);
    /// Shells without `a+=b`.
    pub(crate) const WITHOUT_APPEND: Self = Self(8 | 32);
    /// Shells without `$[ … ]`.
    pub(crate) const WITHOUT_BRACKETS: Self = Self(8 | 16 | 32);
    /// Shells in which `[ a -eq b ]` computes its operands.
    pub(crate) const COMPUTES_IN_TEST: Self = Self(16 | 32);
}

impl BitOr for Shells {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}
