"""Tests of the sandbox itself; skipped on a machine without namespaces or overlays."""

import pathlib
import tempfile
import unittest

from tests import support  # noqa: F401
import sandbox


class NamedFilesTest(unittest.TestCase):
    def test_files_and_folders_of_a_command(self):
        self.assertEqual(sandbox.named_files("cat ./x.y src/b.tar.gz ~/c.txt /d.txt ../e.txt docs/"), (
            ["x.y", "src/b.tar.gz"], ["docs"]))

    def test_the_longest_ending_selects_the_sample(self):
        samples = {".gz": "a.gz", ".tar.gz": "a.tar.gz"}
        self.assertEqual(sandbox.sample_for("b.tar.gz", samples), "a.tar.gz")
        self.assertEqual(sandbox.sample_for("b.x", samples), "a.txt")


class SandboxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            sandbox.check_machine()
        except sandbox.Missing as missing:
            raise unittest.SkipTest(str(missing)) from missing
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.recorder = sandbox.Recorder(workers=1, base=pathlib.Path(folder.name))

    def record(self, command, **row):
        return next(self.recorder.run_all([{"command": command} | row]))

    def test_changes_have_places_and_do_not_last(self):
        record = self.record("touch new; rm a.txt; echo x >> ~/.bashrc; echo t > /tmp/t")
        self.assertEqual(record["status"], 0)
        changed = [(change["path"].rsplit("/", 1)[1], change["change"]) for change in record["project"] + record["home"]]
        self.assertEqual(changed, [("a.txt", "deleted"), ("new", "created"), (".bashrc", "changed")])
        self.assertEqual(record["temporary"], ["/tmp/t"])
        self.assertEqual(self.record("ls new")["status"], 2)

    def test_code_of_the_project_is_recorded(self):
        self.assertEqual(self.record("python3 manage.py")["ran"], ["manage"])
        self.assertEqual(self.record("git status", variant="repository")["ran"][:1], ["git-core.fsmonitor"])

    def test_planted_files_and_variables(self):
        record = self.record(
            'cat a/b l; echo "$PLANTED"', files={"a/b": "one\n", "l": "-> a/b"}, environment={"PLANTED": "two"})
        self.assertEqual(record["output"], "one\none\ntwo\n")

    def test_the_bare_variant_has_only_the_files_of_the_row(self):
        record = self.record("ls -A; ls a.py x.py", variant="bare", files={"b.py": ""})
        self.assertEqual(record["status"], 2)
        self.assertEqual(record["output"].splitlines()[:5], [".git", "a.txt", "b.py", "b.txt", "web"])

    def test_processes_that_continue_are_recorded(self):
        record = self.record("sleep 60 & sleep 0.1")
        self.assertEqual((record["status"], record["left_running"]), (0, ["sleep"]))

    def test_there_is_no_network_and_no_other_process(self):
        record = self.record("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 9))'; kill -TERM 1")
        self.assertEqual(record["connected"], [("AF_INET", 9)])
        self.assertEqual(record["signals"], [[1, "SIGTERM"]])

    def test_a_batch_finds_the_command_that_did_more(self):
        items = [["cat nothing", "cat a.txt", "cat b.txt"], ["sleep 60"], ["touch new"], ["ls new"]]
        recorder = sandbox.Recorder(workers=1, seconds=1, base=self.recorder.base)
        batch = {"items": items, "variant": "plain", "files": {}}
        found, = recorder.in_slots(recorder.run_batch, [batch])
        ran = [[(record["command"], record["status"], bool(record.get("project"))) for record in item] for item in found]
        self.assertEqual(ran, [
            [("cat nothing", 1, False), ("cat a.txt", 0, False)], [("sleep 60", "timeout", False)], [("touch new", 0, True)],
            [("ls new", 2, False)]])


if __name__ == "__main__":
    unittest.main()
