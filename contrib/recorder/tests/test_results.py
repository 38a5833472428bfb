"""Tests of the evaluation of records."""

import pathlib
import unittest

from tests import support  # noqa: F401
import results
import surroundings
import tables


def program(name, family="text"):
    return tables.Program(pathlib.Path(f"{family}/{name}.toml"), 0, (name,), {"reads": "x"})


def record(command, *programs, **more):
    rows = [{"path": f"/usr/bin/{name}", "words": [name], "status": status} for name, status in programs]
    return {"command": command, "status": 0, "programs": rows} | more


CHANGE = {"path": f"{surroundings.PROJECT}/x", "change": "created", "kind": "file"}


class EvaluationTest(unittest.TestCase):
    def marked(self, programs, records):
        return [(entry.title, name) for entry, name in results.Evaluation(programs, records).to_mark(programs)]

    def test_a_program_that_succeeded_is_marked(self):
        programs = [program("jq"), program("cat"), program("sed")]
        records = [record("cat a | jq .", ("cat", 0), ("jq", 2)), record("sed -n 1p", ("sed", 0))]
        self.assertEqual(self.marked(programs, records), [("text/cat", "cat"), ("text/sed", "sed")])

    def test_a_program_in_a_command_that_did_more_is_not_marked(self):
        programs = [program("husky"), program("git")]
        records = [
            record("husky --version", ("husky", 0), ("git", 0), project=[CHANGE]), record("husky", ("husky", 0)),
            record("git log", ("git", 0))]
        self.assertEqual(self.marked(programs, records), [("text/git", "git")])

    def test_builtins_of_bash_run_where_a_part_begins(self):
        programs = [program("pushd", "shell"), program("read", "shell")]
        self.assertEqual(self.marked(programs, [record("cd a && pushd /tmp; echo read")]), [("shell/pushd", "pushd")])

    def test_a_timeout_is_no_success(self):
        self.assertEqual(self.marked([program("jq")], [record("jq .", ("jq", 0)) | {"status": "timeout"}]), [])


if __name__ == "__main__":
    unittest.main()
