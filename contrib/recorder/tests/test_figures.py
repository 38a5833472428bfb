"""Tests of the figures about the coverage, and of the section in the documentation."""

import pathlib
import tempfile
import unittest

from tests import support
import cover
import figures
import open_findings
import surroundings
import tables

CHANGE = {"path": f"{surroundings.PROJECT}/x", "change": "created", "kind": "file"}


def subject(name, registry="npm", entry=None):
    entry = entry or {"reads": "x", "options": ["-a -b", "--write raises update"], "commands": {"ls": {"reads": "x"}}}
    return cover.Subject(tables.Program(pathlib.Path(f"text/{name}.toml"), 0, (name,), entry), name, registry, name)


def record(name, command, status=0, path="", options=(), **more):
    return {"program": f"text/{name}", "package": name, "name": name, "path": path, "options": list(options),
            "command": command, "variant": "plain", "status": status} | more


class EvaluationTest(unittest.TestCase):
    def evaluate(self, subjects, records, refused=("p --write",)):
        return figures.evaluate(
            subjects, records, lambda commands, _: {text for text in commands if not text.startswith(tuple(refused))}, lambda _: "1.2")

    def test_commands_and_options_are_counted(self):
        evaluation = self.evaluate([subject("p"), subject("q")], [
            record("p", "p"), record("p", "p ls", 1, "ls"), record("p", "p -a", 0, options=["-a"]), record("p", "p -b", 2, options=["-b"])])
        row, = evaluation.programs
        self.assertEqual([row[key] for key in figures.KEYS], [2, 2, 1, 2, 2, 1])
        self.assertEqual((row["registry"], row["version"], row["variants"], row["violations"]), ("npm", "1.2", ["plain"], 0))
        self.assertEqual(evaluation.failed, [("p", "ls", None), ("p", "", "-b")])
        self.assertEqual([(program.title, name) for program, name in evaluation.to_mark([])], [("text/p", "p")])

    def test_flags_that_were_run_together_count_each(self):
        row, = self.evaluate([subject("p")], [record("p", "p -a -b", 0, options=["-a", "-b"])]).programs
        self.assertEqual(row["options_succeeded"], 2)

    def test_a_program_that_did_more_is_not_marked(self):
        evaluation = self.evaluate([subject("p")], [record("p", "p"), record("p", "p -a", options=["-a"], project=[CHANGE])])
        self.assertEqual((evaluation.blamed, evaluation.to_mark([])), ({"text/p"}, []))
        self.assertEqual([wrong["command"] for wrong in evaluation.violations], ["p -a"])

    def test_a_call_that_needs_confirmation_by_now_does_not_count(self):
        records = [record("p", "p"), record("p", "p -a", options=["-a"], project=[CHANGE])]
        evaluation = self.evaluate([subject("p")], records, ("p --write", "p -a", "p a.txt"))
        self.assertEqual(evaluation.violations, [])
        self.assertEqual([evaluation.programs[0][key] for key in figures.KEYS], [2, 1, 1, 1, 0, 0])

    def test_a_program_that_failed_only_is_not_marked(self):
        self.assertEqual(self.evaluate([subject("p")], [record("p", "p", 127)]).to_mark([]), [])


class SectionTest(unittest.TestCase):
    def test_the_page_has_the_section_of_the_recorded_figures(self):
        page = (support.REPOSITORY / "docs/classifier.md").read_text()
        section = figures.section(figures.read(), len(open_findings.read()))
        self.assertEqual(figures.with_section(page, section), page, "run `recorder.py figures`")

    def test_every_recorded_program_is_in_a_table(self):
        titles = {program.title for program in tables.read_programs(support.REPOSITORY / "hooks-classify" / "programs")}
        self.assertEqual({row["program"] for row in figures.read()} - titles, set())

    def test_figures_of_registries_add_up(self):
        def row(registry, *counts):
            return dict(zip(figures.KEYS, counts)) | {"registry": registry, "violations": 1, "day": "2026-01-02"}
        text = figures.section([row("npm", 3, 2, 1, 6, 5, 4), row("npm", 1, 1, 1, 1, 1, 1), row("debian", 0, 0, 0, 0, 0, 0)], 7)
        self.assertIn("| npm | 2 | 3, 2, 4 | 6, 5, 7 | 2 |", text)
        self.assertIn("| all | 3 | 3, 2, 4 | 6, 5, 7 | 3 |", text)
        self.assertIn("lists 7 commands", text)

    def test_lines_of_programs_that_did_not_run_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "coverage.jsonl")
            path.write_text('{"program": "a/b", "name": "b", "day": "2026-01-01"}\n')
            evaluation = figures.Evaluation([{"program": "a/a", "name": "a"}], [], set(), [], set(), [])
            figures.write(evaluation, "2026-01-02", path)
            self.assertEqual([(row["name"], row["day"]) for row in figures.read(path)], [("a", "2026-01-02"), ("b", "2026-01-01")])


if __name__ == "__main__":
    unittest.main()
