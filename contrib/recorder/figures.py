"""Figures of the coverage: what `cover` ran, for each program, and the section about it in the documentation.

`coverage.jsonl` has a line for each program. The section is written from these lines alone.
"""

import collections
import dataclasses
import json
import pathlib

import calls
import effects

DATA = pathlib.Path(__file__).resolve().parent / "coverage.jsonl"
BEGIN = "<!-- coverage: written by contrib/recorder -->"
END = "<!-- end of coverage -->"
REGISTRIES = {"debian": "Debian", "npm": "npm", "pypi": "PyPI", "rust": "Rust", "bash": "bash (builtins)", "other": "others"}
KEYS = ("commands", "commands_ran", "commands_succeeded", "options", "options_ran", "options_succeeded")


@dataclasses.dataclass
class Evaluation:
    """Results of a run of `cover`, as `recorder.mark` takes them."""

    programs: list
    violations: list
    blamed: set
    marked: list
    as_files: set
    failed: list

    def to_mark(self, _programs, _namesakes=()):
        """Returns each program to mark, with the name under which it ran."""
        return self.marked


def evaluate(subjects, records, is_allowed, version_of):
    """Returns the evaluation of records.

    `is_allowed` takes commands and a variant, or `None`, and returns those that are allowed as a set: a record of a
    command that needs confirmation by now does not count. `version_of` takes the name of a program.
    """
    by_variant = collections.defaultdict(set)
    for record in records:
        by_variant[record["variant"]].add(record["command"])
    allowed = {variant: is_allowed(sorted(commands), variant) for variant, commands in by_variant.items()}
    kept = collections.defaultdict(list)
    for record in records:
        if record["command"] in allowed[record["variant"]] and record["status"] != "failed":
            kept[record["program"], record["package"]].append(record)
    rows, violations, blamed, marked, failed = [], [], set(), {}, []
    as_files = set()
    harmless = harmless_options(subjects, kept, is_allowed)
    for subject in subjects:
        own = kept[subject.program.title, subject.package]
        wrong = [record for record in own if effects.more_than_read(record)]
        violations += wrong
        if wrong:
            blamed.add(subject.program.title)
        if not own:
            continue
        commands, options = harmless[subject]
        ran = {(record["path"], name) for record in own for name in record["options"]} & options
        works = {(record["path"], name) for record in own if record["status"] == 0 for name in record["options"]} & options
        base = {record["path"] for record in own} & commands
        base_works = {record["path"] for record in own if record["status"] == 0} & commands
        failed += [(subject.name, path, None) for path in sorted(commands - base_works)]
        failed += [(subject.name, path, name) for path, name in sorted(options - works)]
        if any(record["status"] == 0 for record in own):
            marked.setdefault(subject.program.title, (subject.program, subject.name))
            if subject.registry != "bash":
                as_files.add(subject.name)
        counts = (len(commands), len(base), len(base_works), len(options), len(ran), len(works))
        rows.append({
            "program": subject.program.title, "name": subject.name, "registry": subject.registry,
            "version": version_of(subject.name) if subject.registry != "bash" else None, **dict(zip(KEYS, counts)),
            "variants": sorted({record["variant"] for record in own}), "violations": len(wrong),
        })
    return Evaluation(
        rows, violations, blamed, [pair for title, pair in marked.items() if title not in blamed], as_files, failed)


def harmless_options(subjects, kept, is_allowed):
    """Returns the commands that read and the options that only read, of each program.

    An option only reads if one of its calls is allowed: a recorded one, or one with the call of its command.
    """
    texts = collections.defaultdict(set)
    for subject in subjects:
        own = kept[subject.program.title, subject.package]
        best = {}
        for record in sorted(own, key=lambda record: record["status"] != 0):
            if not record["options"]:
                best.setdefault(record["path"], record["command"])
        for record in own:
            names = record["options"] or [None]
            for name in names:
                texts[subject].add((record["command"], record["path"], name))
        for path, _, options in calls.entries_of(subject.program):
            head = f"{subject.name} {path}".strip()
            texts[subject].add((best.get(path, head), path, None))
            for tested in options:
                texts[subject] |= {(text, path, tested.name) for text in calls.option_calls(
                    subject.name, path, tested, best.get(path, head))}
    allowed = is_allowed(sorted({text for found in texts.values() for text, _, _ in found}), None)
    harmless = {}
    for subject in subjects:
        found = {(path, name) for text, path, name in texts[subject] if text in allowed}
        harmless[subject] = ({path for path, name in found if name is None}, {pair for pair in found if pair[1]})
    return harmless


def read(path=DATA):
    """Returns the recorded lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(evaluation, day, path=DATA):
    """Writes the lines of the programs; lines of programs that did not run keep their day."""
    old = {(row["program"], row["name"]): row for row in read(path)} if path.exists() else {}
    new = {(row["program"], row["name"]): row | {"day": day} for row in evaluation.programs}
    rows = [row for _, row in sorted((old | new).items())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def section(rows, number_open):
    """Returns the text between the marks: the figures of each registry, and of all."""
    groups = {name: [row for row in rows if row["registry"] == key] for key, name in REGISTRIES.items()}
    lines = ["| Programs from | seen | read commands: run, succeeded, known | harmless options: run, succeeded, known | more than a read |",
             "|---|---:|---:|---:|---:|"]
    for name, group in [*((name, group) for name, group in groups.items() if group), ("all", rows)]:
        total = {key: sum(row[key] for row in group) for key in KEYS}
        lines.append("| {} | {} | {}, {}, {} | {}, {}, {} | {} |".format(
            name, len(group), total["commands_ran"], total["commands_succeeded"], total["commands"],
            total["options_ran"], total["options_succeeded"], total["options"], sum(row["violations"] for row in group)))
    days = sorted({row["day"] for row in rows})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    lines += ["", f"Recorded {span}. `open.txt` lists {number_open} commands that do more in the surroundings of the recorder."]
    return "\n".join(lines)


def with_section(text, new):
    """Returns the text of a page with a new section between its marks."""
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    return f"{head}{BEGIN}\n\n{new}\n\n{END}{tail}"


def report(evaluation):
    """Returns the calls that did more than read, and the commands and options that never succeeded, in Markdown."""
    lines = ["# Allowed calls that did more than read", ""]
    lines += [f"- `{record['command']}` ({record['variant']}): {'; '.join(effects.more_than_read(record)[:6])}"
              for record in evaluation.violations]
    by_command = collections.defaultdict(list)
    for name, path, option in evaluation.failed:
        by_command[f"{name} {path}".strip()].append(option or "the command itself")
    lines += ["", "# Commands and options without a call that succeeded", ""]
    lines += [f"- `{command}`: {', '.join(options)}" for command, options in by_command.items()]
    return "\n".join(lines) + "\n"
