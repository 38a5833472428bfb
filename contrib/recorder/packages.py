"""Packages of `programs.toml`: installation below `RECORDER_DIR/tools`, and versions of installed programs."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tomllib

import results

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "programs.toml"
FOLDERS = [f"{root}/{name}" for root in ("/usr/local", "/usr", "") for name in ("sbin", "bin")] + ["/usr/games"]
SECONDS = 400
REGISTRIES = ("debian", "pypi", "npm", "rust")


def read_list(path=LIST):
    """Returns the packages of `programs.toml`, by registry and name."""
    return tomllib.loads(path.read_text())


def run(*words, **options):
    """Runs a program without input. Returns `True` if it succeeded."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False, **options)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def link_programs(programs, tools):
    """Links programs into `tools/bin`. A name that is linked already keeps its program."""
    (tools / "bin").mkdir(parents=True, exist_ok=True)
    for program in programs:
        link = tools / "bin" / program.name
        if not link.is_symlink():
            link.symlink_to(program)


def install_python(name, version, tools):
    """Installs a package of PyPI into an environment of its own and links its programs."""
    folder = tools / "python" / name
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = tools / "python" / "uv" / "bin" / "uv"
        requirement = f"{name}=={version}"
        if uv.exists():
            ok = run(uv, "venv", "-q", "--python", "/usr/bin/python3", folder) and run(
                uv, "pip", "install", "-q", "--python", folder / "bin" / "python", requirement)
        else:
            ok = run("/usr/bin/python3", "-m", "venv", folder) and run(
                folder / "bin" / "pip", "install", "-q", requirement)
        if not ok:
            shutil.rmtree(folder, ignore_errors=True)
            return False
        (folder / "done").write_text(version)
    link_programs(python_programs(name, folder), tools)
    return True


def normalized(name):
    """Returns the name of a package of Python in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def python_programs(name, folder):
    """Returns the programs of a package itself, without those of its dependencies."""
    for info in folder.glob("lib/python3*/site-packages/*.dist-info"):
        if normalized(info.name.split("-")[0]) == normalized(name):
            paths = [line.split(",")[0] for line in (info / "RECORD").read_text().splitlines()]
            return [folder / "bin" / os.path.basename(path) for path in paths if re.fullmatch(r"(\.\./)+bin/[^/]+", path)]
    return []


def install_npm(name, version, tools):
    """Installs a package of npm into a folder of its own and links its programs.

    The scripts of the package do not run, except with `{ version = "…", scripts = true }`.
    """
    scripts = isinstance(version, dict) and version.get("scripts", False)
    version = version["version"] if isinstance(version, dict) else version
    folder = tools / "npm" / name.replace("/", "+").removeprefix("@")
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]
        if not scripts:
            words.insert(2, "--ignore-scripts")
        if not run(*words, str(folder), f"{name}@{version}", cwd=folder):
            shutil.rmtree(folder, ignore_errors=True)
            return False
        (folder / "done").write_text(version)
    manifest = json.loads((folder / "node_modules" / name / "package.json").read_text())
    programs = manifest.get("bin", {})
    names = [name.rsplit("/", 1)[-1]] if isinstance(programs, str) else list(programs)
    link_programs([folder / "node_modules" / ".bin" / program for program in names], tools)
    return True


def available(names):
    """Returns the names of the packages that apt knows: the list was made on a machine with other sources, too."""
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", *names], capture_output=True, text=True, check=False).stdout
    known = set(re.findall(r"^Package: (\S+)", shown, re.MULTILINE))
    return [name for name in names if name in known]


def link_rust(tools):
    """Links the toolchain of Rust of this machine, which an ordinary user may not be able to read."""
    rustc = shutil.which("rustc")
    if rustc is None:
        return False
    shown = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True, check=False).stdout.strip()
    folder = tools / "rust"
    if not folder.exists():
        tools.mkdir(parents=True, exist_ok=True)
        # Hard links need the same file system; else the toolchain is copied.
        if not run("cp", "-al", shown, folder):
            shutil.rmtree(folder, ignore_errors=True)
            if not run("cp", "-a", shown, folder):
                return False
    link_programs(sorted((folder / "bin").iterdir()), tools)
    return True


def install(base, registries=REGISTRIES):
    """Installs the packages of the list. Returns the names of those that could not be installed."""
    packages, failed = read_list(), []
    tools = base / "tools"
    if "debian" in registries:
        names = available(packages["debian"])
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        if not run("apt-get", "install", "-y", "--no-install-recommends", *names, env=environment):
            failed.append("debian")
    if "rust" in registries and not link_rust(tools):
        failed.append("rust")
    for registry, installer in (("pypi", install_python), ("npm", install_npm)):
        if registry in registries:
            # `uv` installs the other packages of PyPI.
            ordered = sorted(packages[registry].items(), key=lambda item: item[0] != "uv")
            failed += [f"{registry}: {name}" for name, version in ordered if not installer(name, version, tools)]
    return failed


def write_debian(packages, path=LIST):
    """Replaces the section `[debian]` of the list; `packages` maps names to versions."""
    head = path.read_text().split("[debian]\n")[0]
    lines = (f'{name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)} = "{version}"\n'
             for name, version in sorted(packages.items()))
    path.write_text(head + "[debian]\n" + "".join(lines))


def upstream_version(version):
    """Returns the version of the program in a version of Debian: `1:2.39.5+dfsg-0+deb12u2` is `2.39.5`."""
    version = re.sub(r"^\d+:", "", version)
    version = version.rsplit("-", 1)[0] if "-" in version else version
    version = re.sub(r".*[+.]really\.?", "", version)
    return re.split(r"[+~]|\.(?:dfsg|ds\d|git)", version)[0]


@functools.cache
def has_module(name):
    """Returns `True` if the Python of the system has a module."""
    return run("/usr/bin/python3", "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)")


class Installed:
    """The installed programs: their paths, packages and versions."""

    def __init__(self, base, dpkg="/var/lib/dpkg"):
        self.tools = base / "tools"
        self.owners = {}
        for listing in pathlib.Path(dpkg, "info").glob("*.list"):
            package = listing.stem
            for line in listing.read_text().splitlines():
                folder = line.rsplit("/", 1)[0]
                if folder in FOLDERS or "/lib" in folder:
                    self.owners[re.sub(r"^/(s?bin|lib\w*)/", r"/usr/\1/", line)] = package
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f", "${binary:Package} ${Package} ${Version}\n"],
            capture_output=True, text=True, check=False).stdout
        self.versions = {}
        for line in shown.splitlines():
            with_architecture, package, version = line.split(" ")
            self.versions[with_architecture] = self.versions[package] = version

    def path_of(self, name):
        """Returns the path of a program, or `None`."""
        path = shutil.which(name, path=":".join([str(self.tools / "bin"), *FOLDERS]))
        return path and pathlib.Path(path)

    def has(self, name):
        """Returns `True` for an installed program, a module of an installed Python or a builtin of bash."""
        if name.startswith("python -m "):
            return has_module(name.removeprefix("python -m "))
        return name in results.bash_builtins() or self.path_of(name) is not None

    def package_of(self, path):
        """Returns the package of Debian that a program belongs to, or `None`."""
        for candidate in (str(path), os.path.realpath(path)):
            owner = self.owners.get(re.sub(r"^/(s?bin|lib\w*)/", r"/usr/\1/", candidate))
            if owner:
                return owner
        return None

    def debian_packages(self, names):
        """Returns the packages of Debian that hold one of the programs, with their versions."""
        owners = {self.package_of(path) for path in map(self.path_of, names) if path}
        return {owner.split(":")[0]: self.versions[owner] for owner in owners if owner in self.versions}

    def origin_of(self, name):
        """Returns the registry and the package of an installed program; without a package, its real path."""
        path = self.path_of(name)
        if path.parent == self.tools / "bin":
            registry, package = pathlib.Path(os.readlink(path)).relative_to(self.tools).parts[:2]
            return {"python": "pypi"}.get(registry, registry), package
        if owner := self.package_of(path):
            return "debian", owner.split(":")[0]
        return "other", os.path.realpath(path)

    def is_pinned(self, name):
        """Returns `True` for a program of `tools`, whose version `programs.toml` pins."""
        path = self.path_of(name)
        return path is not None and path.parent == self.tools / "bin"

    def version_of(self, name):
        """Returns the version of the package of a program, or `None` for a program without one."""
        path = self.path_of(name)
        if path is None:
            return None
        if path.parent == self.tools / "bin":
            folder = pathlib.Path(os.readlink(path))
            done = next((parent / "done" for parent in folder.parents if (parent / "done").exists()), None)
            return done and done.read_text()
        package = self.package_of(path)
        return package and upstream_version(self.versions.get(package, "")) or None
