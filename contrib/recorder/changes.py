"""The changes of a command: the upper folder of its overlay, compared with the layers below.

A file that is opened for writing is copied to the upper folder, even if nothing is written. So contents
are compared. A lock that is made and deleted leaves no change.
"""

import os
import re
import stat
import struct

MOST_CHANGES = 5000
MOST_BYTES_COMPARED = 64 << 20
KINDS = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
# Names of fields that hold the identifier of a machine, a user or an installation.
IDENTIFIER = re.compile(
    rb"(telemetry|analytics|anonymous|device|machine|client|install(ation)?|distinct|tracking)[\"' _.-]?(user)?[_.-]?(id|uuid|identifier)\b",
    re.IGNORECASE,
)


def kind_of(mode):
    """Returns the kind of a file by its mode."""
    return KINDS.get(stat.S_IFMT(mode), "device")


def is_deletion(status):
    """Returns `True` for the device by which an overlay marks a deleted file."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def find_below(layers, path):
    """Returns the path of a file in the uppermost layer that has it, or `None`."""
    for layer in layers:
        candidate = os.path.join(layer, path)
        if os.path.lexists(candidate):
            return candidate
    return None


def read_bytes(path, limit=MOST_BYTES_COMPARED):
    """Returns the first bytes of a file; nothing if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def index_entries(data):
    """Returns the entries of a git index without the times of files, or `None` for another format.

    `git status` writes the times of unchanged files to the index. The entries are equal then.
    """
    if data[:4] != b"DIRC" or len(data) < 12:
        return None
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3):
        return None
    entries, at = [], 12
    for _ in range(count):
        flags = struct.unpack(">H", data[at + 60:at + 62])[0]
        name_at = at + 62 + (2 if version == 3 and flags & 0x4000 else 0)
        end = data.index(b"\0", name_at)
        entries.append((data[at + 24:at + 28], data[at + 40:at + 60], flags, data[name_at:end]))
        at += (end - at + 8) // 8 * 8
    return entries


def is_refreshed_index(path, new, old):
    """Returns `True` if a change of `.git/index` only refreshed the times of files."""
    if not path.endswith(".git/index"):
        return False
    entries = index_entries(read_bytes(new))
    return entries is not None and entries == index_entries(read_bytes(old))


def is_equal(new, old):
    """Returns `True` if two files have the same kind, mode and contents."""
    one, other = os.lstat(new), os.lstat(old)
    if one.st_mode != other.st_mode:
        return False
    if stat.S_ISLNK(one.st_mode):
        return os.readlink(new) == os.readlink(old)
    if not stat.S_ISREG(one.st_mode):
        return True
    return one.st_size == other.st_size and read_bytes(new) == read_bytes(old)


def is_ignored_by_itself(path, folders):
    """Returns `True` for a file in a cache that version control never sees.

    This is `__pycache__`, a cache of Mercurial, or a folder with a `.gitignore` that ignores everything.
    """
    parts = path.split("/")
    if any(parts[at] == ".hg" and parts[at + 1] in ("cache", "wcache") for at in range(len(parts) - 2)):
        return True
    for depth in range(1, len(parts) + 1):
        if parts[depth - 1] == "__pycache__":
            return True
        for folder in folders:
            lines = read_bytes(os.path.join(folder, *parts[:depth], ".gitignore"), 4096).split(b"\n")
            if b"*" in (line.strip() for line in lines):
                return True
    return False


def describe(path, upper, layers):
    """Returns the change of one path, or `None` if nothing changed."""
    new, old = os.path.join(upper, path), find_below(layers, path)
    status = os.lstat(new)
    if is_deletion(status):
        return {"path": "/" + path, "change": "deleted"} if old else None
    row = {"path": "/" + path, "change": "changed" if old else "created", "kind": kind_of(status.st_mode)}
    if old and is_equal(new, old):
        return None
    if row["kind"] == "folder" and old:
        return None
    if old and is_refreshed_index(path, new, old):
        row["refreshed"] = True
    if is_ignored_by_itself(path, [upper, *layers]):
        row["ignored"] = True
    if row["kind"] == "file":
        row["size"] = status.st_size
        if IDENTIFIER.search(read_bytes(new, 65536)):
            row["identifier"] = True
    return row


def list_changes(upper, layers):
    """Returns the changes in the upper folder: files, links, sockets, pipes and empty folders."""
    changes = []
    for folder, folders, files in os.walk(upper):
        relative = os.path.relpath(folder, upper)
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        names = sorted(files + links)
        if relative != "." and not folders and not files:
            names = ["."]
        for name in names:
            path = os.path.normpath(os.path.join(relative, name))
            change = describe(path, upper, layers)
            if change:
                changes.append(change)
            if len(changes) >= MOST_CHANGES:
                return changes
    return changes
