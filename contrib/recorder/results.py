"""Evaluation of records: the programs that ran, those to mark as checked, and the report."""

import collections
import functools
import re
import subprocess

import effects
import tables


@functools.cache
def bash_builtins():
    """Returns the names of the builtins and keywords of bash."""
    done = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=False)
    return frozenset(done.stdout.split())


@functools.cache
def bash_version():
    """Returns the version of bash."""
    done = subprocess.run(["bash", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"\d+\.\d+\.\d+", done.stdout)
    return match[0] if match else ""


def called_as(words, path):
    """Returns the name of a process: the name of its file, and `python -m x` for a module of Python."""
    name = path.rsplit("/", 1)[-1]
    names = [name]
    if re.fullmatch(r"python[\d.]*", name) and words[1:2] == ["-m"] and len(words) > 2:
        names.append(f"python -m {words[2]}")
    return names


def first_words(command):
    """Returns the words of a command at which a part of it begins: after a separator or a keyword."""
    return set(re.findall(r"(?:^|[;&|(\n]|\b(?:do|then|else|if|while|until)\s)\s*([\w.\[:-]+)", command))


def runs_of(record):
    """Returns the exit statuses of the programs of a record, by name, and the builtins of bash among them."""
    statuses = collections.defaultdict(list)
    for program in record.get("programs", []):
        for name in called_as(program["words"], program["path"]):
            statuses[name].append(program["status"])
    builtins = first_words(record["command"]) & bash_builtins() - statuses.keys()
    for name in builtins:
        statuses[name].append(record["status"])
    return statuses, builtins


def is_named(name, command):
    """Returns `True` if a command names a program; a program that another program starts is not named."""
    return name in command if " " in name else name in tables.words_of(command)


class Evaluation:
    """Programs of the tables that ran in a list of records, and commands that did more than read."""

    def __init__(self, programs, records):
        self.by_name = {name: program for program in programs for name in program.names}
        self.succeeded = collections.defaultdict(collections.Counter)
        self.ran = collections.defaultdict(set)
        # Names of programs that succeeded as files; the others are builtins of bash.
        self.as_files = set()
        self.violations = []
        for record in records:
            self._add(record)

    def _add(self, record):
        reasons = effects.more_than_read(record)
        concerned = set()
        runs, builtins = runs_of(record)
        for name, statuses in runs.items():
            program = self.by_name.get(name)
            if program is None or not is_named(name, record["command"]):
                continue
            concerned.add(program.title)
            self.ran[program.title].add(name)
            if 0 in statuses and record["status"] != "timeout":
                self.succeeded[program.title][name] += 1
                if name not in builtins:
                    self.as_files.add(name)
        if reasons:
            self.violations.append((record, reasons, sorted(concerned)))

    @functools.cached_property
    def blamed(self):
        """Returns the titles of the programs that took part in a command that did more than read."""
        return {title for _, _, concerned in self.violations for title in concerned}

    def to_mark(self, programs, namesakes=()):
        """Returns each program to mark, with the name under which it ran: the first of its names that succeeded.

        `namesakes` are the titles of tables whose program is not the installed one.
        """
        blamed = self.blamed
        marked = []
        for program in programs:
            names = self.succeeded.get(program.title, {})
            name = next((name for name in program.names if name in names), None)
            if name and program.title not in blamed and program.title not in namesakes:
                marked.append((program, name))
        return marked


def report(evaluation, versions, total):
    """Returns the report about the commands that did more than read, in Markdown."""
    lines = ["# Allowed commands that did more than read", ""]
    lines.append(f"{total} commands, {len(evaluation.ran)} programs, {len(evaluation.violations)} commands below.")
    lines += ["", "| Program | Version | Command | Effects |", "|---|---|---|---|"]
    for record, reasons, concerned in evaluation.violations:
        names = ", ".join(f"`{title}`" for title in concerned)
        seen = ", ".join(filter(None, (versions(title) for title in concerned)))
        command = record["command"].replace("\n", "\\n").replace("|", "\\|")
        effect = "; ".join(reasons[:6]).replace("|", "\\|")
        lines.append(f"| {names} | {seen} | `{command}` | {effect} |")
    return "\n".join(lines) + "\n"
