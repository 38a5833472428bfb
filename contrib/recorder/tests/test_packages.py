"""Tests of the installed packages: their programs, origins and versions."""

import pathlib
import tempfile
import unittest

from tests import support  # noqa: F401
import packages


class PackagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)
        self.tools = self.base / "tools"

    def install(self, kind, package, program, version="1.2"):
        folder = self.tools / kind / package
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / program).write_text("#!/bin/sh\n")
        (folder / "bin" / program).chmod(0o755)
        (folder / "done").write_text(version)
        packages.link_programs([folder / "bin" / program], self.tools)
        return folder

    def test_programs_of_a_package_are_in_the_folder_of_programs(self):
        folder = self.install("python", "a-package", "tool")
        info = folder / "lib/python3.11/site-packages/a_package-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "RECORD").write_text("../../../bin/tool,x,1\na_package/bin/list.py,x,1\na_package/tool.py,x,1\n")
        self.assertEqual(packages.python_programs("a-package", folder), [folder / "bin" / "tool"])

    def test_a_pinned_program_comes_before_that_of_the_system(self):
        self.install("npm", "kitchen", "ls", "9.8.7")
        installed = packages.Installed(self.base, dpkg=self.base)
        self.assertEqual(installed.origin_of("ls"), ("npm", "kitchen"))
        self.assertEqual(installed.version_of("ls"), "9.8.7")

    def test_origins_of_pypi_have_its_name(self):
        self.install("python", "kitchen", "cook")
        self.assertEqual(packages.Installed(self.base, dpkg=self.base).origin_of("cook"), ("pypi", "kitchen"))

    def test_programs_builtins_and_modules_are_present(self):
        installed = packages.Installed(self.base)
        self.assertEqual([installed.has(name) for name in (
            "ls", "pushd", "no-such-program", "python -m json.tool", "python -m no_such_module")], [True, True, False, True, False])


if __name__ == "__main__":
    unittest.main()
