"""Tests of the comparison of an overlay with the layers below it."""

import pathlib
import struct
import tempfile
import unittest

from tests import support  # noqa: F401
import changes


def index(size, version=2, name=b"a.txt", time=0):
    """Returns a git index with one entry."""
    entry = struct.pack(">IIII", time, time, time, time) + b"\0" * 8 + struct.pack(">I", 0o100644) + b"\0" * 8
    entry += struct.pack(">I", size) + b"\1" * 20 + struct.pack(">H", len(name)) + name
    entry += b"\0" * (8 - len(entry) % 8)
    return b"DIRC" + struct.pack(">II", version, 1) + entry


class ChangesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.upper, self.lower = pathlib.Path(folder.name, "upper"), pathlib.Path(folder.name, "lower")
        self.upper.mkdir()
        self.lower.mkdir()

    def write(self, where, name, data):
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def found(self):
        return {row["path"]: row for row in changes.list_changes(str(self.upper), [str(self.lower)])}

    def test_a_file_with_equal_contents_did_not_change(self):
        self.write(self.lower, "a", b"one")
        self.write(self.upper, "a", b"one")
        self.write(self.upper, "b", b"two")
        self.write(self.lower, "c", b"three")
        self.write(self.upper, "c", b"four")
        kinds = {path: row["change"] for path, row in self.found().items()}
        self.assertEqual(kinds, {"/b": "created", "/c": "changed"})

    def test_an_empty_folder_is_a_change_if_it_is_new(self):
        (self.upper / "new").mkdir()
        (self.upper / "old").mkdir()
        (self.lower / "old").mkdir()
        self.assertEqual([(row["path"], row["kind"]) for row in self.found().values()], [("/new", "folder")])

    def test_a_link_is_compared_by_its_target(self):
        for where, target in ((self.lower, "x"), (self.upper, "y")):
            (where / "link").symlink_to(target)
        self.assertEqual(self.found()["/link"]["change"], "changed")

    def test_caches_that_ignore_themselves(self):
        self.write(self.upper, "p/__pycache__/a.pyc", b"1")
        self.write(self.upper, "p/.ruff_cache/.gitignore", b"# made by ruff\n*\n")
        self.write(self.upper, "p/.ruff_cache/0/x", b"1")
        self.write(self.upper, "p/.other/x", b"1")
        ignored = {path for path, row in self.found().items() if row.get("ignored")}
        self.assertEqual(ignored, {"/p/__pycache__/a.pyc", "/p/.ruff_cache/.gitignore", "/p/.ruff_cache/0/x"})

    def test_caches_of_mercurial_are_ignored(self):
        for name in (".hg/cache/tags2", ".hg/wcache/checklink", ".hg/hgrc", ".hg/cache-not"):
            self.write(self.upper, name, b"")
        ignored = {path for path, row in self.found().items() if row.get("ignored")}
        self.assertEqual(ignored, {"/.hg/cache/tags2", "/.hg/wcache/checklink"})

    def test_times_in_an_index_are_no_change_of_it(self):
        self.write(self.lower, ".git/index", index(3))
        self.write(self.upper, ".git/index", index(3, time=9))
        self.assertTrue(self.found()["/.git/index"]["refreshed"])
        self.write(self.upper, ".git/index", index(3, name=b"b.txt"))
        self.assertNotIn("refreshed", self.found()["/.git/index"])
        self.write(self.upper, ".git/index", index(3, version=4))
        self.assertNotIn("refreshed", self.found()["/.git/index"])

    def test_identifiers_are_found(self):
        self.write(self.upper, "a", b'{"telemetryId": "3"}')
        self.write(self.upper, "b", b'{"identity": "3"}')
        self.assertTrue(self.found()["/a"]["identifier"])
        self.assertNotIn("identifier", self.found()["/b"])


if __name__ == "__main__":
    unittest.main()
