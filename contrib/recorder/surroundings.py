"""The project and the home in which commands run, and their variants.

Every place from which tools run code of a project or a repository touches a marker: an empty file in
`~/.ran`, whose name is the name of the place. A record lists the markers that a command touched.

A variant is a folder that is laid over the plain files; `bare` is laid over nothing. `prepare` writes all of
them, once for each version of this file.
"""

import hashlib
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import zipfile
import zlib

USER = 1000
HOME = "/home/dev"
PROJECT = f"{HOME}/project"
MARKERS = f"{HOME}/.ran"
VARIANTS = ("plain", "repository", "first-run", "bare")
# Variants that are not laid over the plain files.
WHOLE_VARIANTS = ("plain", "bare")

JAVASCRIPT_SETTINGS = (
    "babel.config commitlint.config eslint.config jest.config next.config postcss.config prettier.config "
    "release.config rollup.config stylelint.config tailwind.config vite.config vitest.config webpack.config"
).split()
PYTHON_FILES = {
    "conf": "conf.py", "conftest": "conftest.py", "fabfile": "fabfile.py", "manage": "manage.py",
    "mypy-plugin": "plug.py", "noxfile": "noxfile.py", "SConstruct": "SConstruct", "tasks": "tasks.py",
    "wscript": "wscript",
}
RUBY_FILES = {
    "gemfile": "Gemfile", "guardfile": "Guardfile", "rakefile": "Rakefile", "rubocop": "rc.rb",
    "vagrantfile": "Vagrantfile",
}
GIT_HOOKS = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge "
    "post-rewrite pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg "
    "push-to-checkout reference-transaction sendemail-validate"
).split()
# Settings of a repository whose value git runs as a program.
GIT_PROGRAMS = (
    "core.fsmonitor core.pager core.editor core.sshCommand core.askPass core.gitProxy core.alternateRefsCommand "
    "diff.external diff.planted.command diff.planted.textconv filter.planted.clean filter.planted.smudge "
    "merge.planted.driver merge.tool.cmd difftool.planted.cmd mergetool.planted.cmd "
    "gpg.program gpg.ssh.program gpg.x509.program sequence.editor credential.helper pager.log pager.diff "
    "pager.status pager.branch pager.tag pager.show web.browser browser.planted.cmd help.browser man.planted.cmd "
    "interactive.diffFilter uploadpack.packObjectsHook trailer.planted.command trailer.planted.cmd "
    "sendemail.smtpServer instaweb.httpd remote.origin.uploadpack remote.origin.vcs alias.planted"
).split()


def touch(marker):
    """Returns a shell command that touches a marker."""
    return f"touch {MARKERS}/{marker}"


def plain_project():
    """Returns the text files of the project, by their paths."""
    python = {name: f"open('{MARKERS}/{marker}', 'w')\n" for marker, name in PYTHON_FILES.items()}
    ruby = {name: f'File.write("{MARKERS}/{marker}", "")\n' for marker, name in RUBY_FILES.items()}
    javascript = {
        f"{name}.js": f"require('fs').writeFileSync('{MARKERS}/{name}', '');\nmodule.exports = {{}};\n"
        for name in JAVASCRIPT_SETTINGS
    }
    scripts = ["test", "build", "prepare", "preinstall", "start", "lint"]
    npm_scripts = ", ".join(f'"{name}": "{touch("npm-" + name)}"' for name in scripts)
    samples = {f"{name}.txt": "alpha\nbeta 1\ngamma\n" for name in (
        "a", "b", "bar", "c", "data", "f", "file", "foo", "in", "log", "names", "new", "notes", "old", "x")}
    return samples | python | ruby | javascript | {
        "a.csv": "id,name,n\n1,a,3\n2,b,4\n",
        "data.csv": "id,name,n\n1,a,3\n2,b,4\n",
        "data.tsv": "a\tb\n1\t2\n",
        "a.json": '{"a": 1, "b": [1, 2], "c": {"d": "x"}}\n',
        "data.json": '{"a": 1, "b": [1, 2], "c": {"d": "x"}}\n',
        "x.json": '{"a": 1}\n',
        "a.yaml": "a: 1\nb:\n  - x\n",
        "a.yml": "a: 1\nb:\n  - x\n",
        "config.yml": "a: 1\nb:\n  - x\n",
        "a.toml": "[a]\nb = 1\n",
        "a.xml": '<r><a x="1">t</a></r>\n',
        "a.html": "<html><body><p>hi</p></body></html>\n",
        "README.md": "# Title\n\ntext\n",
        "a.md": "# Title\n\ntext\n",
        "a.c": "int main(void) { return 0; }\n",
        "main.c": "int main(void) { return 0; }\n",
        "a.sh": "#!/bin/sh\necho hi\n",
        "a.py": "print(1)\n",
        "main.py": "print(1)\n",
        "a.rb": "puts 1\n",
        "a.js": "console.log(1);\n",
        "index.js": "console.log(1);\n",
        "a.ts": "export const one: number = 1;\n",
        "a.lua": "print(1)\n",
        "a.pl": "print 1;\n",
        "a.sql": "select 1;\n",
        "a.dot": "digraph { a -> b }\n",
        "a.proto": 'syntax = "proto3";\nmessage A { int32 b = 1; }\n',
        "a.diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n alpha\n+new\n",
        "a.po": 'msgid "a"\nmsgstr "b"\n',
        "a.css": "a { color: red }\n",
        "a.less": "a { color: red }\n",
        "a.scss": "a { color: red }\n",
        "a.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
        "a.rst": "Title\n=====\n\ntext\n",
        "a.tex": "\\documentclass{article}\\begin{document}a\\end{document}\n",
        "a.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n',
        "a.go": "package main\n\nfunc main() {}\n",
        "a.json5": "{a: 1}\n",
        "a.log": "2026-01-01 00:00:00 start\n2026-01-01 00:00:01 error: none\n",
        "src/main.rs": "fn main() {}\n",
        "src/lib.rs": "pub fn f() {}\n",
        "tests/test_a.py": f"open('{MARKERS}/test_a', 'w')\ndef test_a(): pass\n",
        "package.json": f'{{"name": "p", "version": "1.0.0", "scripts": {{{npm_scripts}}}, "dependencies": {{}}}}\n',
        "tsconfig.json": '{"compilerOptions": {"noEmit": true}}\n',
        "setup.py": f"open('{MARKERS}/setup.py', 'w')\nfrom setuptools import setup\nsetup(name='p', version='1')\n",
        "pyproject.toml": '[project]\nname = "p"\nversion = "1"\n[build-system]\nrequires = ["setuptools"]\n'
                          'build-backend = "setuptools.build_meta"\n',
        "tox.ini": "[tox]\n",
        "setup.cfg": "[flake8]\n",
        "mypy.ini": "[mypy]\nplugins = plug\n",
        ".pylintrc": f"[MASTER]\ninit-hook=\"open('{MARKERS}/pylint-init', 'w')\"\n",
        "Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n',
        "build.rs": f'fn main() {{ std::fs::write("{MARKERS}/build.rs", "").ok(); }}\n',
        "go.mod": "module p\n\ngo 1.19\n",
        "main.go": f"package main\n\n//go:generate {touch('go-generate')}\nfunc main() {{}}\n",
        "Makefile": f"X := $(shell {touch('make-shell')})\nall: a.txt\n\t{touch('make-all')}\ntest:\n\t{touch('make-test')}\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\n"
                          f"execute_process(COMMAND {touch('cmake')})\n",
        "meson.build": f"project('p')\nrun_command('touch', '{MARKERS}/meson', check: false)\n",
        "build.ninja": f"rule all\n  command = {touch('ninja')}\nbuild out: all\n",
        "build.xml": '<project><target name="t"/></project>\n',
        "Makefile.PL": f'use 5.010; open(F, ">{MARKERS}/MakefilePL");\n',
        "p.gemspec": f'File.write("{MARKERS}/gemspec", "")\nGem::Specification.new {{ |s| s.name = "p"; s.version = "1"; '
                     's.summary = "s"; s.authors = ["a"]; s.files = [] }\n',
        ".rubocop.yml": "require:\n  - ./rc.rb\n",
        "composer.json": f'{{"name": "p/p", "scripts": {{"test": "{touch("composer")}"}}}}\n',
        "dune-project": "(lang dune 3.0)\n",
        "mix.exs": f'File.write("{MARKERS}/mix", "")\ndefmodule P do\nend\n',
        ".envrc": touch("envrc") + "\n",
        ".gdbinit": f"shell {touch('gdbinit')}\n",
        ".lldbinit": f"platform shell {touch('lldbinit')}\n",
        ".exrc": f'call system("{touch("exrc")}")\n',
        ".Rprofile": f'file.create("{MARKERS}/Rprofile")\n',
        ".luacheckrc": f'os.execute("{touch("luacheckrc")}")\n',
        ".sqliterc": f".shell {touch('sqliterc')}\n",
        ".pre-commit-config.yaml": "repos: []\n",
        "Dockerfile": "FROM scratch\n",
        "docker-compose.yml": "services:\n  web:\n    image: x\n",
        "main.tf": 'resource "null_resource" "x" {}\n',
    }


def bare_project():
    """Returns the files of a project without code and without settings."""
    return {f"{folder}{name}": "alpha\nbeta 1\n" for folder in ("", "web/", "web/src/") for name in ("a.txt", "b.txt")}


def plain_home():
    """Returns the files of the home, by their paths."""
    return {
        ".gitconfig": "[user]\n\tname = dev\n\temail = dev@example.org\n",
        ".bashrc": "alias ll='ls -l'\n",
        ".profile": "umask 022\n",
        ".ssh/config": "Host build\n\tHostName build.example.org\n",
        ".ssh/known_hosts": "",
        ".cache/keep": "",
        ".config/keep": "",
        ".local/share/keep": "",
        ".ran/keep": "",
    }


def first_run_home():
    """Returns files that programs leave at their first run, with times long past.

    Programs look for updates, migrate settings or rebuild caches when such files are old.
    """
    return {
        ".npm/_update-notifier-last-checked": "",
        ".npm/_logs/2026-01-01T00_00_00_000Z-debug-0.log": "old\n",
        ".npmrc": "fund=false\n",
        ".config/configstore/update-notifier-npm.json": '{"optOut": false, "lastUpdateCheck": 1577836800000}\n',
        ".config/gcloud/active_config": "default",
        ".config/gcloud/configurations/config_default": "[core]\naccount = dev@example.org\n",
        ".config/gcloud/.last_update_check.json": '{"last_update_check_time": 1577836800}\n',
        ".config/gh/config.yml": "git_protocol: https\n",
        ".config/pip/pip.conf": "[global]\ntimeout = 15\n",
        ".config/htop/htoprc": "fields=0 48 17\n",
        ".gnupg/trustdb.gpg": "",
        ".subversion/config": "[auth]\n",
        ".terraform.d/checkpoint_cache": "{}",
        ".terraform.d/checkpoint_signature": "0000\n",
        ".aws/config": "[default]\nregion = eu-central-1\n",
        ".kube/config": "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n",
        ".docker/config.json": "{}\n",
        ".cargo/config.toml": "[net]\nretry = 2\n",
        ".python_history": "1\n",
        ".lesshst": ".less-history-file:\n",
        ".viminfo": "# This viminfo file was generated by Vim 9.0.\n",
        ".sqlite_history": "select 1;\n",
        ".wget-hsts": "# HSTS 1.0 Known Hosts database for GNU Wget.\n",
    }


def planted_repository():
    """Returns files of a repository whose settings, hooks and attributes touch markers."""
    lines = ["[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"]
    for setting in GIT_PROGRAMS:
        section, *middle, key = setting.split(".")
        heading = f'[{section} "{middle[0]}"]' if middle else f"[{section}]"
        # A filter copies its input. git appends words to most of the commands; the comment takes them.
        copies = "; cat" if key in ("clean", "smudge") else ""
        runs = f"{touch('git-' + setting)}{copies} #"
        # An alias, and a helper of credentials, run a shell command only after `!`.
        value = f"!{runs}" if section in ("alias", "credential") else runs
        lines.append(f'{heading}\n\t{key} = "{value}"\n')
    lines.append('[diff]\n\ttool = planted\n[merge]\n\ttool = planted\n[log]\n\tshowSignature = true\n')
    lines.append('[remote "origin"]\n\turl = /nowhere\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    hooks = {f"project/.git/hooks/{name}": f"#!/bin/sh\n{touch('git-hook-' + name)}\n" for name in GIT_HOOKS}
    return hooks | {
        "project/.git/config": "".join(lines),
        "project/.gitattributes": "* filter=planted diff=planted merge=planted\n",
    }


def write_files(folder, files, executable=()):
    """Writes files below a folder; `files` maps paths to texts."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name in executable or "/hooks/" in name or name.endswith(".sh"):
            path.chmod(0o755)


def write_archives(project):
    """Writes archives, a database, an image and compiled files of the project."""
    for line in (
        "cc -g -o prog a.c", "cp prog a.out", "cc -c a.c -o a.o", "ar rcs liba.a a.o", "cc -shared -fPIC -o liba.so a.c",
        "tar cf a.tar a.txt b.txt", "tar czf a.tar.gz a.txt b.txt", "cp a.tar.gz a.tgz", "tar cJf a.tar.xz a.txt",
        "gzip -k a.txt", "cp a.txt.gz a.gz", "bzip2 -k a.txt", "xz -k a.txt", "zstd -q a.txt", "lz4 -q a.txt a.lz4",
        "lzip -k a.txt", "lzop -q a.txt", "brotli a.txt", "7z a a.7z a.txt", "cpio -o -F a.cpio",
        "openssl req -x509 -newkey rsa:2048 -nodes -days 9999 -subj /CN=a -keyout a.key -out a.pem", "cp a.pem a.crt",
        "ffmpeg -v quiet -f lavfi -i sine=duration=0.1 a.wav", "pandoc a.md -o a.docx",
    ):
        # A machine without a compiler, or without another of these programs, has a project without its files.
        try:
            subprocess.run(
                line.split(), cwd=project, check=False, input="a.txt\n", text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            continue
    for name in ("a.zip", "a.jar", "a.whl"):
        with zipfile.ZipFile(project / name, "w") as archive:
            archive.writestr("a.txt", "hi")
    for name in ("a.db", "app.db", "db.sqlite", "test.db"):
        with sqlite3.connect(project / name) as database:
            database.execute("create table t(x)")
            database.execute("insert into t values (1)")
    (project / "a.png").write_bytes(png_of_one_pixel())
    (project / "a.wasm").write_bytes(b"\0asm\1\0\0\0")
    # The header of a capture without packets.
    (project / "a.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))


def png_of_one_pixel():
    """Returns a PNG image."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\0\0\0")), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def make_repository(project):
    """Makes a repository with a commit, a tag, a branch and a changed file."""
    environment = {"HOME": str(project.parent), "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    for line in ("init -q .", "config user.name dev", "config user.email dev@example.org", "add -A",
                 "commit -qm one", "tag v1", "branch topic"):
        subprocess.run(["git", *line.split()], cwd=project, env=environment, check=True, stderr=subprocess.DEVNULL)
    with open(project / "a.txt", "a") as file:
        file.write("more\n")


def write_users(folder):
    """Writes `/etc/passwd` and `/etc/group` with the user of the commands."""
    (folder / "etc").mkdir(parents=True)
    for name, line in (("passwd", f"dev:x:{USER}:{USER}:dev:{HOME}:/bin/bash\n"), ("group", f"dev:x:{USER}:\n")):
        lines = pathlib.Path("/etc", name).read_text().splitlines(keepends=True)
        kept = [other for other in lines if other.split(":")[2:3] != [str(USER)]]
        (folder / "etc" / name).write_text("".join(kept) + line)


def prepare(base):
    """Writes the files of all variants to `base/lower`, unless they are there."""
    lower = base / "lower"
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()
    stamp = lower / "digest"
    if stamp.exists() and stamp.read_text() == digest:
        return lower
    shutil.rmtree(lower, ignore_errors=True)
    home = lower / "plain" / HOME.lstrip("/")
    project = lower / "plain" / PROJECT.lstrip("/")
    write_files(home, plain_home())
    write_files(project, plain_project())
    write_archives(project)
    make_repository(project)
    write_users(lower / "plain")
    bare = lower / "bare" / HOME.lstrip("/")
    write_files(bare, plain_home())
    write_files(lower / "bare" / PROJECT.lstrip("/"), bare_project())
    make_repository(lower / "bare" / PROJECT.lstrip("/"))
    write_users(lower / "bare")
    for folder in (home, bare):
        (folder / ".ssh").chmod(0o700)
    write_files(lower / "repository" / HOME.lstrip("/"), planted_repository())
    write_files(lower / "first-run" / HOME.lstrip("/"), first_run_home())
    for variant in VARIANTS:
        subprocess.run(["chown", "-R", f"{USER}:{USER}", lower / variant / HOME.lstrip("/")], check=True)
    stamp.write_text(digest)
    return lower


def layers(lower, variant):
    """Returns the folders of a variant, the uppermost first."""
    return [lower / variant] if variant in WHOLE_VARIANTS else [lower / variant, lower / "plain"]
