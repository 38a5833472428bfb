"""Tests of the tables: cases, generated calls and the key `checked`."""

import pathlib
import tomllib
import unittest

from tests import support
import packages
import results
import tables

LINE = 'checked = { version = "1", by = "contrib/recorder", on = 2026-11-30 }'


class TablesTest(unittest.TestCase):
    def test_cases_of_other_labels_and_shells_are_left_out(self):
        text = "READ   a\\nb\nREAD!  c\n\n# shells: zsh\nREAD   d\n# shells: bash zsh\nCREATE e\nREAD f\\\\n\n"
        self.assertEqual(tables.read_cases(text), ["a\nb", "f\\n"])

    def test_calls_of_reading_commands_are_generated(self):
        entry = tomllib.loads(
            'reads = "x"\noptions = ["-a --all", "-n --number =", "--[no-]color"]\n[commands]\n'
            '"list|ls" = { reads = "lists", operands = ["input*"] }\nrm = { deletes = "deletes" }\nl = { same_as = "list" }\n')
        program = tables.Program(pathlib.Path("f/p.toml"), 0, ("p",), entry)
        self.assertEqual(tables.generated(program, "p"), [
            "p --version", "p --help", "p -h", "p", "p a.txt", "p list", "p list --help", "p list a.txt", "p -a", "p --all"])

    def test_checked_follows_the_names(self):
        text = '# about\nnames = [\n    "a", "b]",\n]\nreads = "x"\n\n[commands]\nc = { reads = "y" }\n'
        new = tables.with_checked(text, 0, LINE)
        self.assertEqual(new, text.replace("]\nreads", f"]\n{LINE}\nreads"))
        self.assertEqual(tables.with_checked(new, 0, LINE), new)

    def test_checked_is_the_first_key_without_names(self):
        text = '# about\n\nreads = "x"\n'
        self.assertEqual(tables.with_checked(text, 0, LINE), f'# about\n\n{LINE}\nreads = "x"\n')

    def test_each_program_of_a_file_has_its_own_key(self):
        text = '[[program]]\nnames = ["a"]\nreads = "x"\n\n[[program]]\nnames = ["b"]\nreads = "x"\n'
        new = tables.with_checked(text, 1, LINE)
        self.assertEqual([program.get("checked") is not None for program in tomllib.loads(new)["program"]], [False, True])

    def test_the_key_of_this_tool_can_be_removed(self):
        text = '[[program]]\nnames = ["a"]\nreads = "x"\n\n[[program]]\nnames = ["b"]\nreads = "x"\n'
        both = tables.with_checked(tables.with_checked(text, 0, LINE), 1, LINE)
        self.assertEqual(tables.without_checked(both, 0), tables.with_checked(text, 1, LINE))
        other = 'checked = { version = "1", by = "x --help", on = 2026-01-01 }\nreads = "x"\n'
        self.assertEqual(tables.without_checked(other, 0), other)

    def test_another_kind_of_check_is_kept(self):
        text = 'checked = { version = "1", by = "x --help", on = 2026-01-01 }\nreads = "x"\n'
        self.assertEqual(tables.with_checked(text, 0, LINE), text)

    def test_every_table_stays_readable_with_the_key(self):
        programs = tables.read_programs(support.REPOSITORY / "hooks-classify" / "programs")
        self.assertGreater(len(programs), 1000)
        for program in programs:
            table = tomllib.loads(tables.with_checked(program.file.read_text(), program.index, LINE))
            entry = table.get("program", [table])[program.index]
            self.assertIn("checked", entry, program.title)
            expected = {key: value for key, value in program.entry.items() if key != "checked"}
            self.assertEqual({key: value for key, value in entry.items() if key != "checked"}, expected)


class VersionsTest(unittest.TestCase):
    def test_versions_of_debian_lose_what_debian_adds(self):
        for version, upstream in (
            ("1:2.39.5-0+deb12u2", "2.39.5"), ("5.2.15-2+b7", "5.2.15"), ("1.28.2+ds1-3+b3", "1.28.2"), ("20230101", "20230101"),
            ("4.0~rc1-1", "4.0"), ("1.0+really2.1-1", "2.1"), ("0.8.really.0.7.6-1", "0.7.6"), ("1.14.0.dfsg-2", "1.14.0"),
            ("02.19.git.2021-2", "02.19"),
        ):
            self.assertEqual(packages.upstream_version(version), upstream)

    def test_modules_of_python_have_names(self):
        self.assertEqual(results.called_as(["python3", "-m", "site"], "/usr/bin/python3.11"), ["python3.11", "python -m site"])


if __name__ == "__main__":
    unittest.main()
