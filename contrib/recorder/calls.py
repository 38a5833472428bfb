"""Calls that cover a table: each command that reads, and each of its options, with operands that may make it work."""

import collections
import dataclasses
import re
import shlex

import tables

# Values of an option by words in its name; the first pattern that matches counts.
VALUES_BY_NAME = (
    (re.compile(r"format|output|style|type|reporter|renderer", re.IGNORECASE), ("json", "text", "short")),
    (re.compile(r"color|colour", re.IGNORECASE), ("never", "auto", "red")),
    (re.compile(r"date|time|since|until|before|after", re.IGNORECASE), ("1", "2026-01-01", "1d")),
    (re.compile(r"dir|path|root|cwd|folder", re.IGNORECASE), (".", "src", "a.txt")),
    (re.compile(r"file|config", re.IGNORECASE), ("a.txt", "a.json", "a.toml")),
    (re.compile(r"level|verbos", re.IGNORECASE), ("1", "info", "error")),
    (re.compile(r"encoding|charset", re.IGNORECASE), ("utf-8", "UTF-8", "latin1")),
    (re.compile(r"url|host|server|address", re.IGNORECASE), ("http://localhost:9/", "localhost", "127.0.0.1")),
    (re.compile(r"exclude|include|ignore|pattern|glob|filter|regexp?|match|grep", re.IGNORECASE), ("a", "*.txt", "a=b")),
)
VALUES = ("1", "a", "a.txt", "json")
VALUES_OF_ROLES = {
    "input": ("a.txt", "a.json", "a.py"), "name": ("a.txt", "."), "list": ("names.txt",), "folder": (".",),
    "filter": ("*.txt",), "url": ("http://localhost:9/",), "method": ("GET",), "header": ("A: b",),
    "endpoint": ("http://localhost:9/",), "host": ("localhost",), "format": ("a",), "config": ("a=b", "a.b=c"),
    "script:jq": (".",), "script:sed": ("p",), "script:awk": ("{print}",), "script:sql": ("select 1",),
    "module": ("3.11",),
}
# A call without operands, and operands that many programs take.
OPERANDS = ("", "a.txt", "a.json", "a.py", "a.js", "a.yaml", ".")
SIMPLE = re.compile(r"[^;&|<>()$`\n*?{}~#\\]+")
MOST_CASES = 6
MOST_VALUES = 3


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of an entry: its spelling, and the values to try. `None` is a call without a value."""

    name: str
    values: tuple
    separator: str
    # The option ends the call, as `--version` does.
    is_alone: bool = False

    @property
    def is_flag(self):
        """`True` for an option without a value that does not end the call."""
        return self.values == (None,) and not self.is_alone


def options_of(lines):
    """Returns the options in lines of options of a table."""
    options = []
    for line in [lines] if isinstance(lines, str) else lines:
        words = line.split()
        names = [word for word in words if re.match(r"^(--?|\+)(\[no-\])?[A-Za-z0-9?]", word) and "*" not in word]
        names += [word for word in words if re.fullmatch(r"[a-z]+=", word)]
        rest = [word for word in words if word not in names]
        takes, may_take, is_alone = "=" in rest, "=?" in rest, "only" in rest
        role = next((word.split("+")[0] for word in rest if word.split("+")[0] in VALUES_OF_ROLES), None)
        for name in names:
            if name.startswith("--[no-]"):
                bare = "--" + name.removeprefix("--[no-]")
                options += [option(bare, takes, may_take, role, is_alone), Option("--no-" + bare[2:], (None,), "")]
            elif name.endswith("="):
                options.append(option(name, True, False, role, is_alone))
            else:
                options.append(option(name, takes, may_take, role, is_alone))
    return list(dict.fromkeys(options))


def option(name, takes, may_take, role, is_alone):
    """Returns an option by its name and the kind of its value."""
    if "=" in name[:-1] or not (takes or may_take):
        return Option(name, (None,), "", is_alone)
    values = VALUES_OF_ROLES.get(role) or next((found for at, found in VALUES_BY_NAME if at.search(name)), VALUES)
    if may_take:
        return Option(name, (None, *values), "=" if name.startswith("--") else "")
    return Option(name, values, "" if name.endswith("=") else " ")


def entries_of(program):
    """Returns the commands of a program that may read: their words, their entries and their options.

    The options that all commands accept are those of the program.
    """
    groups = program.entry.get("groups", {})
    every = program.entry.get("every_command", {})

    def options(entry):
        found = options_of(entry.get("options", []))
        for group in entry.get("use", []):
            found += options_of(groups.get(group, []))
        return found

    own = options(program.entry) + (options(every) if isinstance(every, dict) else [])
    entries = [("", program.entry, list(dict.fromkeys(own)))]
    commands = program.entry.get("commands", {})
    for key, entry in commands.items():
        if not isinstance(entry, dict) or "*" in key or any(effect in entry for effect in tables.EFFECTS[1:]):
            continue
        *parents, last = key.split(" ")
        path = " ".join([*(parent.split("|")[0] for parent in parents), last.split("|")[0]])
        entries.append((path, entry, [] if "same_as" in entry else list(dict.fromkeys(options(entry)))))
    return entries


def cases_by_program(commands):
    """Returns the simple commands of the cases, by their first word."""
    found = collections.defaultdict(list)
    for command in commands:
        if SIMPLE.fullmatch(command) and (words := command.split()):
            found[words[0]].append(command)
    return found


def calls_of_cases(program, name, path, cases):
    """Returns the calls of a command among the cases, with `name` for each of the names of the program."""
    head = f"{name} {path}".strip()
    found = [re.sub(r"^\S+", name, command) for first in program.names for command in cases.get(first, ())]
    return [command for command in found if command == head or command.startswith(head + " ")]


def bases(program, name, path, entry, cases):
    """Returns calls of a command without the options to test, in the order in which they are tried.

    Calls of the cases come first, those with operands and without options before the others, short ones before long ones.
    """
    head = f"{name} {path}".strip()
    fitting = calls_of_cases(program, name, path, cases)
    if not path and program.entry.get("commands"):
        fitting = [command for command in fitting if not re.match(r"\S+ +[a-z]", command)]
    fitting.sort(key=lambda command: (" -" in command[len(head):], command == head, len(command)))
    operands = OPERANDS if not path else ("", "a.txt")
    made = [f"{head} {operand}".strip() for operand in operands]
    if tables.operand_of(entry):
        made = made[1:] + made[:1]
    return list(dict.fromkeys([*fitting[:MOST_CASES], *made]))


def with_option(base, name, path, spelling):
    """Returns a call with an option behind the words of its command."""
    head = f"{name} {path}".strip()
    return f"{head} {spelling}{base[len(head):]}"


def spellings(tested):
    """Returns an option with each value to try."""
    return [
        tested.name if value is None else f"{tested.name}{tested.separator}{shlex.quote(value)}"
        for value in tested.values[:MOST_VALUES]
    ]


def option_calls(name, path, tested, base, of_cases=()):
    """Returns calls of a command with an option: those of the cases, one for each value, and one with the option as the last word.

    `of_cases` are the calls of the cases with this command.
    """
    given = [
        call for call in of_cases
        if any(word == tested.name or word.startswith(tested.name + "=") for word in call.split())
    ]
    found = [with_option(base, name, path, spelling) for spelling in spellings(tested)]
    return list(dict.fromkeys([*given[:MOST_VALUES], *found, f"{base} {spellings(tested)[0]}"]))
