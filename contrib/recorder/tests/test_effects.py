"""Tests of the rules that separate a read from more than a read."""

import unittest

from tests import support  # noqa: F401
import effects
import open_findings
import surroundings


def home(path, change="created", **more):
    return {"home": [{"path": f"{surroundings.HOME}/{path}", "change": change, "kind": "file"} | more]}


def project(path, change="created", **more):
    return {"project": [{"path": f"{surroundings.PROJECT}/{path}", "change": change, "kind": "file"} | more]}


class EffectsTest(unittest.TestCase):
    def assert_read(self, record):
        self.assertEqual(effects.more_than_read(record), [])

    def assert_more(self, record):
        self.assertEqual(len(effects.more_than_read(record)), 1, record)

    def test_own_state_in_the_home_is_a_read(self):
        for path in (".cache/x/y", ".npm/_logs/1.log", ".config/gh/state.yml", ".local/share/x/log", ".python_history", "go/pkg/x"):
            self.assert_read(home(path))
        self.assert_read(home(".gnupg/trustdb.gpg", "changed"))
        ran = {"programs": [{"path": "/usr/bin/fossil"}]}
        self.assert_read(home(".config/fossil.db") | ran)
        self.assert_more(home(".config/other.db") | ran)
        ran = {"programs": [{"path": "/usr/bin/mycli"}]}
        self.assert_read(home(".myclirc") | ran)
        self.assert_more(home(".otherrc") | ran)
        self.assert_read(home(".cache/prek/hooks"))

    def test_settings_hooks_and_identifiers_are_more(self):
        for path in (".ssh/known_hosts", ".config/git/config", ".config/x/hooks/pre", "notes.txt", ".bashrc", ".local/bin/x"):
            self.assert_more(home(path))
        self.assert_more(home(".config/x/settings.json", identifier=True))
        self.assert_more(home(".gitconfig", "changed"))
        self.assert_more(home(".config/x/settings.json", "changed"))

    def test_the_project_has_only_caches_that_ignore_themselves(self):
        self.assert_read(project("__pycache__/a.pyc", ignored=True))
        self.assert_read(project(".git/index", "changed", refreshed=True))
        self.assert_more(project("a.txt", "changed"))
        self.assert_more(project(".git/index", "changed"))
        self.assert_more(project("Testing/Temporary/LastTest.log"))

    def test_code_daemons_signals_and_the_system_are_more(self):
        self.assert_more({"ran": ["npm-test"]})
        self.assert_more({"left_running": ["adb"]})
        self.assert_more({"signals": [[1, "SIGTERM"]]})
        self.assert_more({"system": [{"path": "/etc/x", "change": "created"}]})

    def test_connections_and_temporary_files_are_reads(self):
        self.assert_read({"connected": [["AF_INET", 443]], "temporary": ["/tmp/x"]})

    def test_open_findings_match_parts_of_a_command(self):
        self.assertTrue(open_findings.matches(["git lfs"], "cd x && git lfs ls-files | cat"))
        self.assertFalse(open_findings.matches(["git lfs"], "git lfsx; echo git lfs"))


if __name__ == "__main__":
    unittest.main()
