"""Tests of the plan of `cover`, without a sandbox and without the guard."""

import pathlib
import tomllib
import unittest

from tests import support  # noqa: F401
import cover
import tables


class Machine:
    """Answers commands with a status and a time by their text, and keeps the batches."""

    project = pathlib.Path("/nowhere")
    samples = {"": "a.txt"}

    def __init__(self, failing=(), seconds=0.0, ran_git=False):
        self.failing, self.seconds, self.ran_git = failing, seconds, ran_git
        self.batches = []

    def run_batch(self, batch, _slot):
        self.batches.append(batch)
        found = []
        for item in batch["items"]:
            records = []
            for command in item:
                status = int(any(word in command.split() for word in self.failing))
                records.append({"command": command, "variant": batch["variant"], "status": status, "seconds": self.seconds,
                                "ran_git": self.ran_git})
                if status == 0:
                    break
            found.append(records)
        return found


class Plan(cover.Coverage):
    """Asks about the words of `asked`, in all variants or in some."""

    def __init__(self, machine, asked):
        super().__init__(machine, None, {}, None)
        self.asked = asked

    def allowed(self, commands, variant=None):
        refused = self.asked.get(None, ()) + self.asked.get(variant, ())
        return {command for command in commands if not any(word in command.split() for word in refused)}


class CoverTest(unittest.TestCase):
    def cover(self, machine, **asked):
        entry = tomllib.loads('reads = "x"\noperands = []\noptions = ["-a -b", "--write raises update", "--version only read"]\n')
        program = tables.Program(pathlib.Path("text/p.toml"), 0, ("p",), entry)
        asked = {(None if key == "always" else key): value for key, value in asked.items()}
        plan = Plan(machine, asked)
        records = plan.cover([cover.Subject(program, "p", "npm", "p")], None)
        return [(record["variant"], record["command"], record["options"]) for record in records]

    def test_each_harmless_option_runs_with_a_call_that_succeeds(self):
        self.assertEqual(self.cover(Machine(failing=["a.txt"]), always=("--write",)), [
            ("plain", "p", []), ("plain", "p -a", ["-a"]), ("plain", "p -b", ["-b"]), ("plain", "p --version", ["--version"]),
            ("repository", "p", [])])

    def test_calls_with_a_reason_to_ask_in_the_project_run_in_the_bare_one(self):
        found = self.cover(Machine(), always=("--write",), plain=("-b",), repository=("p",))
        self.assertEqual(found, [
            ("plain", "p", []), ("plain", "p -a", ["-a"]), ("plain", "p --version", ["--version"]), ("bare", "p -b", ["-b"])])

    def test_flags_of_slow_programs_run_together(self):
        self.assertEqual(self.cover(Machine(seconds=9), always=("--write",)), [
            ("plain", "p", []), ("plain", "p -a -b", ["-a", "-b"]), ("plain", "p --version", ["--version"]), ("repository", "p", [])])

    def test_flags_that_fail_together_run_alone(self):
        found = self.cover(Machine(seconds=9, failing=["-b"]), always=("--write",))
        self.assertEqual([row[1] for row in found if row[0] == "plain"], ["p", "p -a -b", "p --version", "p -a", "p -b"])

    def test_options_of_programs_that_run_git_run_in_the_repository(self):
        found = self.cover(Machine(ran_git=True), always=("--write",))
        self.assertEqual([row[1] for row in found if row[0] == "repository"], ["p", "p -a", "p -b", "p --version"])

    def test_small_programs_of_a_family_share_batches(self):
        def subject(family, name):
            return cover.Subject(tables.Program(pathlib.Path(f"{family}/{name}.toml"), 0, (name,), {"reads": "x"}), name, "npm", name)
        chosen = [subject("text", "a"), subject("text", "b"), subject("git", "c")]
        self.assertEqual([[one.name for one in chunk] for chunk in cover.chunks(chosen)], [["a", "b"], ["c"]])


if __name__ == "__main__":
    unittest.main()
