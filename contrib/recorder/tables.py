"""Tables of programs: their entries, the commands that read, and the key `checked`."""

import dataclasses
import json
import pathlib
import re
import tomllib

EFFECTS = ("reads", "creates", "updates", "deletes", "runs", "unclear")
BY = "contrib/recorder"
# At most this number of generated commands for one program.
MOST_GENERATED = 20
OPTION = re.compile(r"--?\[?[A-Za-z0-9]")
WORD = re.compile(r"[^\s;&|()'\"`<>$]+")


@dataclasses.dataclass(frozen=True)
class Program:
    """An entry of a table: a program with all its names."""

    file: pathlib.Path
    index: int
    names: tuple
    entry: dict

    @property
    def title(self):
        """Family and name, such as `text/jq`."""
        return f"{self.file.parent.name}/{self.names[0]}"


def read_programs(folder):
    """Returns the programs of all tables below `hooks-classify/programs`, in the order of their files."""
    programs = []
    for file in sorted(pathlib.Path(folder).glob("*/*.toml")):
        if file.name == "family.toml":
            continue
        table = tomllib.loads(file.read_text())
        for index, entry in enumerate(table.get("program", [table])):
            names = entry.get("names", [file.stem])
            programs.append(Program(file, index, tuple(names), entry))
    return programs


def read_cases(text):
    """Returns the commands of a file of cases that are allowed in bash."""
    commands, in_bash = [], True
    for line in text.splitlines():
        if line.startswith("# shells: "):
            in_bash = "bash" in line.split()
        elif line.startswith("READ ") and in_bash:
            commands.append(unescape(line.removeprefix("READ ").strip()))
    return commands


def unescape(text):
    """Replaces `\\n` by a line break and `\\\\` by a backslash, as in a file of cases."""
    return re.sub(r"\\(n|\\)", lambda match: "\n" if match[1] == "n" else "\\", text)


def all_cases(crate):
    """Returns the allowed commands of the cases and of the corpus of `hooks-classify`."""
    commands = []
    for file in sorted((crate / "programs").glob("*/*.cases")) + sorted((crate / "programs").glob("*.cases")):
        commands += read_cases(file.read_text())
    for file in sorted((crate / "corpus").glob("*.jsonl")):
        rows = map(json.loads, filter(None, file.read_text().splitlines()))
        commands += [row["command"] for row in rows if row["label"] == "READ" and not row["must_confirm"]]
    return list(dict.fromkeys(commands))


def words_of(command):
    """Returns the words of a command that may name a program, without their folders."""
    return {word.rsplit("/", 1)[-1] for word in WORD.findall(command)}


def flags_of(entry):
    """Returns the options of an entry that take no value, the last name of each line of options."""
    lines = entry.get("options", [])
    flags = []
    for line in [lines] if isinstance(lines, str) else lines:
        words = line.split()
        if "=" in words or "=?" in words:
            continue
        flags += [word for word in words if OPTION.match(word) and not re.search(r"[*=\[]", word)]
    return flags


def operand_of(entry):
    """Returns operands for a call: a file of the project for each file that the entry requires."""
    roles = entry.get("operands", ["text*"])
    roles = [roles] if isinstance(roles, str) else roles
    files = {"input", "name", "list"}
    return " a.txt" if any(re.sub(r"[*?+].*", "", role) in files for role in roles) else ""


def generated(program, name, most=MOST_GENERATED):
    """Returns calls of a program from its table, under one of its names, that may read.

    The classifier decides which of them are run.
    """
    calls = [f"{name} --version", f"{name} --help", f"{name} -h", name, f"{name} a.txt"]
    parts = [("", program.entry)]
    for path, entry in program.entry.get("commands", {}).items():
        if not isinstance(entry, dict) or "*" in path:
            continue
        if "same_as" in entry or any(effect in entry for effect in EFFECTS[1:]):
            continue
        *parents, last = path.split(" ")
        first = last.split("|")[0]
        parts.append((" " + " ".join([*(parent.split("|")[0] for parent in parents), first]), entry))
    for path, entry in parts[1:]:
        calls += [f"{name}{path}", f"{name}{path} --help"]
        if operand := operand_of(entry):
            calls.append(f"{name}{path}{operand}")
    for path, entry in parts:
        operand = operand_of(entry)
        calls += [f"{name}{path} {flag}{operand}" for flag in flags_of(entry)]
    return list(dict.fromkeys(calls))[:most]


def checked_line(version, by, day):
    """Returns the line of the key `checked`."""
    return f'checked = {{ version = "{version}", by = "{by}", on = {day} }}'


def entry_lines(lines, index):
    """Returns the first and the last line of the keys of a program itself, as a range of numbers."""
    starts = [number for number, line in enumerate(lines) if line.strip() == "[[program]]"]
    first = starts[index] + 1 if starts else 0
    end = next((number for number in range(first, len(lines)) if lines[number].startswith("[")), len(lines))
    return first, end


def end_of_value(lines, number):
    """Returns the number of the line after a value that may be a list over several lines."""
    depth = 0
    while number < len(lines):
        text = re.sub(r'"(?:[^"\\]|\\.)*"|#.*', "", lines[number])
        depth += text.count("[") - text.count("]")
        number += 1
        if depth <= 0:
            return number
    return number


def with_checked(text, index, line):
    """Returns the text of a table with the key `checked` of one program; every other line is kept.

    The key follows `names`. In an entry without `names` it is the first key. An existing key of this
    tool is replaced; a key of another kind of check is kept.
    """
    lines = text.splitlines(keepends=True)
    first, end = entry_lines(lines, index)
    for number in range(first, end):
        if lines[number].startswith("checked ="):
            if BY in lines[number]:
                lines[number] = line + "\n"
            return "".join(lines)
    at = next((number for number in range(first, end) if lines[number].startswith("names =")), None)
    if at is not None:
        at = end_of_value(lines, at)
    else:
        at = next((number for number in range(first, end) if re.match(r"\w", lines[number])), end)
    return "".join([*lines[:at], line + "\n", *lines[at:]])


def without_checked(text, index):
    """Returns the text of a table without the key `checked` that this tool wrote for one program."""
    lines = text.splitlines(keepends=True)
    first, end = entry_lines(lines, index)
    kept = [line for line in lines[first:end] if not (line.startswith("checked =") and BY in line)]
    return "".join([*lines[:first], *kept, *lines[end:]])
