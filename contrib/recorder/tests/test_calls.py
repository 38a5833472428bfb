"""Tests of the calls that cover a table."""

import pathlib
import tomllib
import unittest

from tests import support  # noqa: F401
import calls
import tables


def program(text):
    return tables.Program(pathlib.Path("f/p.toml"), 0, ("p", "q"), tomllib.loads(text))


class OptionsTest(unittest.TestCase):
    def spellings(self, line):
        return [calls.spellings(option) for option in calls.options_of([line])]

    def test_flags_and_negations(self):
        self.assertEqual(self.spellings("-a --all --[no-]color"), [["-a"], ["--all"], ["--color"], ["--no-color"]])

    def test_values_come_from_the_role_or_the_name(self):
        self.assertEqual(self.spellings("-f --file = input"), [
            ["-f a.txt", "-f a.json", "-f a.py"], ["--file a.txt", "--file a.json", "--file a.py"]])
        self.assertEqual(self.spellings("--log-level ="), [["--log-level 1", "--log-level info", "--log-level error"]])

    def test_an_optional_value_is_joined(self):
        self.assertEqual(self.spellings("-n --number =?"), [["-n", "-n1", "-na"], ["--number", "--number=1", "--number=a"]])

    def test_a_value_in_the_name_and_operands_with_names(self):
        self.assertEqual(self.spellings("--dry-run=client only read"), [["--dry-run=client"]])
        self.assertEqual(self.spellings("if= = input"), [["if=a.txt", "if=a.json", "if=a.py"]])

    def test_patterns_of_options_are_left_out(self):
        self.assertEqual(self.spellings("--* -x"), [["-x"]])

    def test_options_that_end_the_call_are_no_flags(self):
        self.assertEqual([option.is_flag for option in calls.options_of(["--help only read", "-v", "-n ="])], [False, True, False])


class EntriesTest(unittest.TestCase):
    TABLE = program(
        'reads = "x"\nuse = ["g"]\noptions = ["-a"]\nevery_command = { options = ["-e"] }\n[groups]\ng = ["-g"]\n[commands]\n'
        '"list|ls" = { reads = "x", use = ["g"] }\n"list tags|t" = { reads = "x", options = ["-t"] }\n'
        'rm = { deletes = "x" }\nl = { same_as = "list" }\n"*" = { reads = "x" }\n')

    def test_reading_commands_have_their_own_options_and_those_of_groups(self):
        found = [(path, [option.name for option in options]) for path, _, options in calls.entries_of(self.TABLE)]
        self.assertEqual(found, [("", ["-a", "-g", "-e"]), ("list", ["-g"]), ("list tags", ["-t"]), ("l", [])])

    def test_calls_of_cases_with_operands_come_first(self):
        cases = calls.cases_by_program(["q list", "p list -a x", "p list x", "p list > x", "p listing", "p rm"])
        self.assertEqual(calls.bases(self.TABLE, "p", "list", {}, cases), ["p list x", "p list", "p list -a x", "p list a.txt"])

    def test_an_option_stands_behind_the_command_and_at_the_end(self):
        option, = calls.options_of(["-n ="])
        self.assertEqual(calls.option_calls("p", "list", option, "p list x"), [
            "p list -n 1 x", "p list -n a x", "p list -n a.txt x", "p list x -n 1"])


if __name__ == "__main__":
    unittest.main()
