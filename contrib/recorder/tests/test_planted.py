"""Tests of the drawing of planted files and of the comparison with the guard."""

import pathlib
import tempfile
import unittest

from tests import support  # noqa: F401
import planted
import surroundings

SETTING = {"x.toml": "run = \"@HERE@/tools/r.sh\"\n", "tools/r.sh": "@SH@"}
PLANTING = planted.Planting("x", ("sh",), ("x ls", "x show"), {"a.txt": "base\n"}, (
    SETTING, {"x.toml": "run = none\n"}, {"+.git/config": "[one]\n"}, {"+.git/config": "[two]\n"}, {"a.txt": "other\n"}))
ALLOWED = {"decision": "AUTO_ALLOWED"}
ASKED = {"decision": "REQUIRES_CONFIRMATION"}


def record(**fields):
    return {"status": 0, "output": "", "ran": [], "project": [], "home": [], "system": []} | fields


class DrawTest(unittest.TestCase):
    def test_a_seed_gives_the_same_rows(self):
        self.assertEqual(planted.draw([PLANTING], 1, 50), planted.draw([PLANTING], 1, 50))
        self.assertNotEqual(planted.draw([PLANTING], 1, 50), planted.draw([PLANTING], 2, 50))

    def test_another_program_does_not_change_the_rows_of_a_program(self):
        other = planted.Planting("y", ("sh",), ("y",), {}, ())
        rows = [row for row in planted.draw([PLANTING, other], 1, 20) if row["program"] == "x"]
        self.assertEqual(rows, planted.draw([PLANTING], 1, 10))

    def test_rows_have_all_places_and_the_empty_subset(self):
        rows = planted.draw([PLANTING], 1, 300)
        self.assertTrue(any(not row["drawn"] for row in rows))
        self.assertTrue(any(row["command"].startswith("cd web && ") and "x.toml" in row["drawn"] for row in rows))
        self.assertTrue(any(row["command"].startswith("x ") and "web/x.toml" in row["drawn"] for row in rows))
        for row in rows:
            base = "web/a.txt" if row["command"].startswith("cd web") else "a.txt"
            self.assertIn(base, row["files"])

    def test_files_that_differ_are_not_planted_together(self):
        files, settled = {"a": "base"}, set()
        self.assertTrue(planted.merge(files, {"a": "one", "b": "two"}, settled))
        self.assertFalse(planted.merge(files, {"a": "three", "c": "four"}, settled))
        self.assertEqual(files, {"a": "one", "b": "two"})

    def test_settings_of_a_repository_are_appended_in_the_project(self):
        files, settled = {}, set()
        for entry in PLANTING.pool[2:4]:
            self.assertTrue(planted.merge(files, planted.place(entry, "web"), settled))
        self.assertEqual(files, {"+.git/config": "[one]\n[two]\n"})
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            (project / ".git").mkdir()
            (project / ".git/config").write_text("[core]\n")
            row = planted.with_whole_files({"files": files}, project)
        self.assertEqual(row["files"], {".git/config": "[core]\n[one]\n[two]\n"})

    def test_placeholders_are_code_with_a_marker(self):
        files = planted.place(SETTING, "web")
        self.assertEqual(files["web/x.toml"], f"run = \"{surroundings.PROJECT}/web/tools/r.sh\"\n")
        self.assertEqual(files["web/tools/r.sh"], f"#!/bin/sh\ntouch {surroundings.MARKERS}/planted-tools_r.sh\n")

    def test_the_list_has_known_placeholders_and_relative_paths(self):
        plantings = planted.read_plantings()
        self.assertGreaterEqual(len(plantings), 20)
        for planting in plantings:
            for entry in (planting.base, *planting.pool):
                for path, text in planted.place(entry, "web").items():
                    self.assertNotRegex(text, r"@[A-Z]+@", planting.name)
                    self.assertNotRegex(path, r"^/|(^|/)\.\.(/|$)", planting.name)

    def test_programs_that_are_not_installed_are_left_out(self):
        missing = planted.Planting("z", ("no-such-program",), ("z",), {}, ())
        self.assertEqual(planted.select([PLANTING, missing], [], "/bin:/usr/bin"), ([PLANTING], ["z"]))
        with self.assertRaises(SystemExit):
            planted.select([PLANTING], ["w"], "/bin")


class CompareTest(unittest.TestCase):
    def compare(self, decision, files=None, **fields):
        return planted.compare({"files": files or {}}, decision, record(**fields))

    def test_an_allowed_command_that_only_read_passes(self):
        self.assertFalse(self.compare(ALLOWED).has_failed)
        self.assertFalse(self.compare(ALLOWED).needless)

    def test_an_allowed_command_with_an_effect_fails(self):
        change = {"path": f"{surroundings.PROJECT}/a", "change": "changed", "kind": "file"}
        self.assertTrue(self.compare(ALLOWED, ran=["planted-a"]).has_failed)
        self.assertTrue(self.compare(ALLOWED, project=[change]).has_failed)
        self.assertFalse(self.compare(ALLOWED, project=[change | {"refreshed": True}]).has_failed)

    def test_a_question_never_fails_and_counts_if_nothing_happened(self):
        asked = self.compare(ASKED, ran=["planted-a"])
        self.assertFalse(asked.has_failed or asked.needless)
        self.assertTrue(self.compare(ASKED).needless)

    def test_a_command_that_did_not_run_fails(self):
        self.assertTrue(self.compare(ASKED, status=127).has_failed)
        self.assertTrue(self.compare(ALLOWED, status="failed").has_failed)

    def test_a_link_to_an_interpreter_of_the_system_is_no_code_of_the_project(self):
        python = f"{surroundings.PROJECT}/.venv/bin/python"
        self.assertFalse(self.compare(ALLOWED, {".venv/bin/python": "-> /usr/bin/python3"}, ran=[python]).has_failed)
        for text in ("#!/bin/sh\n", "-> ../../tools/python", f"-> {surroundings.PROJECT}/python"):
            self.assertTrue(self.compare(ALLOWED, {".venv/bin/python": text}, ran=[python]).has_failed)

    def test_the_summary_counts_questions(self):
        compared = [self.compare(ALLOWED), self.compare(ASKED), self.compare(ASKED, ran=["a"])]
        self.assertEqual(planted.summary(compared, 7, ["z"]), (
            "3 rows, seed 7; 1 allowed; asked about 1 of 2 commands that only read; not installed: z"))


if __name__ == "__main__":
    unittest.main()
