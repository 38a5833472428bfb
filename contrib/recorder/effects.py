"""Decides if a command did more than read, and why.

A program may leave caches, logs, locks and the state of its first run below its own folder in the home.
It may leave caches in the project that version control never sees, and temporary files. Connections are
recorded, but a read may connect. Everything else is more than a read.
"""

import re

import surroundings

# Folders of the home whose files decide what other programs do.
SHARED_SETTINGS = re.compile(
    r"^(\.ssh|\.config/(autostart|systemd|environment\.d|git|fish|nushell|plasma-workspace)"
    r"|\.local/(bin|share/(applications|systemd|dbus-1))|bin|\.git|\.bashrc\.d|\.zshrc\.d)/"
)
# Histories, logs and locks that are no folders.
STATE_FILE = re.compile(r"^\.[\w.-]*(history|hst|log|lock|cache|hsts|info)[\w.-]*$")
OWN_FOLDER = re.compile(
    r"^\.(cache|npm|yarn)/|^\.config/[^/]+/|^\.local/(share|state)/[^/]+/|^\.(?!config/|local/)[^/]+/"
    # `~/.local/pipx`
    r"|^\.local/(?!share/|state/|bin/|lib/)[^/]+/"
)
# Folders of caches in the home whose name has no dot.
CACHE_FOLDER = re.compile(r"^go/pkg/")
HOOK = re.compile(r"(^|/)hooks(/|$)")
CHANGED_STATE = re.compile(r"(^|/)[\w.-]*(cache|log|lock|history|state|trustdb|random_seed|last|check)[\w.-]*(/|$)", re.IGNORECASE)


def is_own_file(path, programs):
    """Returns `True` for a file such as `~/.config/fossil.db` or `~/.myclirc` with the name of a program that ran."""
    match = re.fullmatch(r"(?:\.config/|\.)([^/.]+?)(?:[-.][^/]*)?", path)
    return bool(match) and (match[1] in programs or match[1].removesuffix("rc") in programs)


def in_home(change, programs=()):
    """Returns why a change in the home is more than a read, or `None`; `programs` are the names of those that ran."""
    path = change["path"].removeprefix(surroundings.HOME + "/")
    verb = change["change"]
    if change.get("identifier"):
        return f"{verb} an identifier in `~/{path}`"
    if HOOK.search(path) and not path.startswith(".cache/"):
        return f"{verb} the hook `~/{path}`"
    if SHARED_SETTINGS.search(path):
        return f"{verb} the setting `~/{path}`"
    if verb != "created" and not CHANGED_STATE.search(path):
        return f"{verb} `~/{path}`"
    if OWN_FOLDER.search(path) or STATE_FILE.search(path) or CACHE_FOLDER.search(path):
        return None
    if is_own_file(path, programs):
        return None
    if change.get("kind") == "folder" and re.fullmatch(r"\.[^/]+|\.config/[^/]+|\.local/[^/]+(/[^/]+)?", path):
        return None
    return f"{verb} `~/{path}`"


def in_project(change):
    """Returns why a change in the project is more than a read, or `None`."""
    if change.get("refreshed") or (change.get("ignored") and change["change"] == "created"):
        return None
    return f"{change['change']} `{change['path'].removeprefix(surroundings.PROJECT + '/')}` in the project"


def more_than_read(record):
    """Returns the reasons why a command did more than read; an empty list for a read."""
    reasons = [f"ran code of the project: `{name}`" for name in record.get("ran", [])]
    reasons += filter(None, map(in_project, record.get("project", [])))
    programs = {program["path"].rsplit("/", 1)[-1] for program in record.get("programs", [])}
    reasons += filter(None, (in_home(change, programs) for change in record.get("home", [])))
    reasons += [f"{change['change']} `{change['path']}`" for change in record.get("system", [])]
    reasons += [f"left `{name}` running" for name in record.get("left_running", [])]
    reasons += [f"sent {name} to process {target}" for target, name in record.get("signals", [])]
    return reasons
