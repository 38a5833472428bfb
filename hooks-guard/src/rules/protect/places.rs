//! Paths that are protected for every user, beside the files of
//! [`CLIENTS`](crate::protocol::CLIENTS). In: nothing; constants. Out: path patterns, by protection.

use super::protection::Protection;

/// Protected wherever they are. A trailing `/` includes everything below.
pub(super) const ANYWHERE: &[(Protection, &[&str])] = &[
    (
        Protection::Settings,
        &[
            // A project's rules.
            ".hooks-guard.toml",
        ],
    ),
    (
        Protection::ShellStart,
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".mkshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".logout",
            ".inputrc",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".xsessionrc",
            ".pam_environment",
            ".config/fish/",
            ".config/environment.d/",
            ".config/nushell/",
            ".config/powershell/",
            ".config/zsh/",
            ".oh-my-zsh/",
        ],
    ),
    (
        Protection::Git,
        &[
            ".git",
            // These make a folder a repository, and so the root of a project.
            ".git/head",
            ".git/commondir",
            ".git/objects/",
            ".git/refs/",
            ".git/config",
            ".git/config.worktree",
            ".git/hooks/",
            ".git/info/attributes",
            ".gitconfig",
            ".config/git/",
            "*.git/config",
            "*.git/hooks/",
            ".git/modules/*/config",
            ".git/modules/*/hooks/",
            ".git/worktrees/*/config.worktree",
        ],
    ),
    (
        Protection::Later,
        &[
            ".config/systemd/",
            ".local/share/systemd/",
            "library/launchagents/",
            "library/launchdaemons/",
            ".config/autostart/",
        ],
    ),
    (Protection::Ssh, &[".ssh/"]),
    (
        Protection::Programs,
        &[
            ".local/bin/",
            ".cargo/bin/",
            ".bun/bin/",
            ".deno/bin/",
            ".npm-global/bin/",
            ".pyenv/shims/",
            ".rbenv/shims/",
            ".asdf/shims/",
            ".volta/bin/",
            "go/bin/",
        ],
    ),
];

/// Protected at these absolute paths.
pub(super) const ROOTED: &[(Protection, &[&str])] = &[
    (
        Protection::ShellStart,
        &[
            "/etc/profile",
            "/etc/profile.d/",
            "/etc/bash.bashrc",
            "/etc/bashrc",
            "/etc/zsh/",
            "/etc/zshrc",
            "/etc/zshenv",
            "/etc/zprofile",
            "/etc/environment",
            "/etc/fish/",
        ],
    ),
    (Protection::Git, &["/etc/gitconfig"]),
    (
        Protection::Later,
        &[
            "/etc/crontab",
            "/etc/cron*",
            "/etc/cron.d/",
            "/etc/cron.daily/",
            "/etc/cron.hourly/",
            "/etc/cron.weekly/",
            "/etc/cron.monthly/",
            "/var/spool/cron/",
            "/etc/systemd/",
            "/lib/systemd/",
            "/usr/lib/systemd/",
            "/etc/rc.local",
            "/etc/init.d/",
            "/etc/xdg/autostart/",
        ],
    ),
    (
        Protection::Programs,
        &[
            "/bin/",
            "/sbin/",
            "/usr/bin/",
            "/usr/sbin/",
            "/usr/local/bin/",
            "/usr/local/sbin/",
            "/opt/homebrew/bin/",
        ],
    ),
];
