#!/usr/bin/env python3
"""Runs commands in a sandbox and records their effects. See README.md."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import time

import calls
import classifier
import cover
import effects
import figures
import open_findings
import packages
import planted
import results
import sandbox
import tables

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CRATE = REPOSITORY / "hooks-classify"
PAGE = REPOSITORY / "docs/classifier.md"
CANNOT_RUN = 3
VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+)+(?:p\d+|[a-z]\d*)?(?![\w])")


def read_rows(file):
    """Returns the rows of a file with one JSON object per line."""
    return [json.loads(line) for line in pathlib.Path(file).read_text().splitlines() if line.strip()]


def write_records(records, file):
    """Writes each record when it is there, and returns all of them."""
    kept = []
    with open(file, "w") as out:
        for record in records:
            out.write(json.dumps(record) + "\n")
            out.flush()
            kept.append(record)
    return kept


def candidates(programs, installed, every_name=False):
    """Returns commands that may read: the cases, and calls from the tables.

    Only commands with the name of one of the programs count that is installed or a builtin of bash.
    """
    present = {name for program in programs for name in program.names if installed.has(name)}
    commands = []
    for program in programs:
        names = [name for name in program.names if name in present]
        for name in names if every_name else names[:1]:
            commands += tables.generated(program, name)
        commands += [f"{name} --version" for name in names[1:]]
    spaced = [name for name in present if " " in name]
    for command in tables.all_cases(CRATE):
        if tables.words_of(command) & present or any(name in command for name in spaced):
            commands.append(command)
    return list(dict.fromkeys(commands))


def draw(commands, seed, count, is_allowed):
    """Returns a sample of the allowed commands.

    The order of the hashes decides, so that the sample hardly changes if commands are added.
    """
    ordered = sorted(commands, key=lambda command: hashlib.sha256(f"{seed} {command}".encode()).digest())
    drawn = []
    for start in range(0, len(ordered), 2 * count):
        drawn += is_allowed(ordered[start:start + 2 * count])
        if len(drawn) >= count:
            break
    return drawn[:count]


def of_checked_programs(commands, programs):
    """Returns the commands whose programs all have the mark of this tool: all their commands only read when they
    were marked. Programs of another machine that were never run would make the sample a matter of chance."""
    marked, others = set(), set()
    for program in programs:
        is_marked = program.entry.get("checked", {}).get("by") == tables.BY
        (marked if is_marked else others).update(program.names)
    return [
        command for command in commands
        if tables.words_of(command) & marked and not tables.words_of(command) & others
    ]


def breadth_first(commands):
    """Returns the commands in an order in which every first word comes once before one comes twice."""
    ranks = collections.Counter()
    ranked = []
    for command in commands:
        first = command.split(None, 1)[0] if command.strip() else ""
        ranked.append((ranks[first], command))
        ranks[first] += 1
    return [command for _, command in sorted(ranked, key=lambda item: item[0])]


def until(deadline, rows):
    """Yields rows until the deadline."""
    for row in rows:
        if deadline is not None and time.monotonic() > deadline:
            return
        yield row


def selected(programs, names):
    """Returns the programs with one of the names; all programs without names."""
    known = {name for program in programs for name in (*program.names, program.file.stem)}
    if unknown := sorted(set(names) - known):
        raise SystemExit(f"unknown program `{unknown[0]}`; use a name of a table")
    return [program for program in programs if not names or set(names) & {*program.names, program.file.stem}]


def printed_versions(name, records):
    """Returns the versions that a program prints for `--version`, or for another word with this meaning."""
    for call in ("--version", "version", "-version", "-V", "version --client"):
        for record in records:
            is_call = record["command"] == f"{name} {call}" or record["command"].startswith(f"{name} {call} ")
            if is_call and record["status"] in (0, 1):
                if versions := VERSION.findall(record.get("output", "")):
                    return versions
    return []


def version_of(name, installed, records):
    """Returns the version of a program.

    The version of its package counts, or a longer form of it that the program prints. If the package has
    another name, it may hold several programs: the first printed version counts, unless it prints the package's.
    """
    packaged, printed = installed.version_of(name), printed_versions(name, records)
    if packaged is None:
        if name.startswith("python -m ") and not printed:
            return version_of("python3", installed, records)
        return printed[0] if printed else None
    if not printed or installed.is_pinned(name):
        return packaged
    longer = [version for version in printed if version.startswith(packaged)]
    if longer:
        return max(longer, key=len)
    is_own_package = name in (installed.package_of(installed.path_of(name)) or "")
    return packaged if is_own_package or any(packaged.startswith(version) for version in printed) else printed[0]


def mark(evaluation, programs, installed, records, day):
    """Writes the key `checked` into the tables. Returns the titles of the marked programs.

    A program that took part in a command that did more than read loses the key.
    """
    marked = []
    for program in programs:
        if program.title in evaluation.blamed:
            program.file.write_text(tables.without_checked(program.file.read_text(), program.index))
    for program, name in evaluation.to_mark(programs, packages.read_list()["namesakes"]):
        by = tables.BY if name == program.names[0] else f"{tables.BY} ({name})"
        if name in evaluation.as_files or " " in name:
            version = version_of(name, installed, records)
        else:
            version = results.bash_version()
            by += ", builtin of bash"
        if not version:
            continue
        old = program.file.read_text()
        new = tables.with_checked(old, program.index, tables.checked_line(version, by, day))
        if new != old:
            program.file.write_text(new)
        marked.append(program.title)
    return marked


def run(arguments):
    """Subcommand `run`."""
    sandbox.check_machine()
    recorder = sandbox.Recorder(arguments.jobs, arguments.seconds)
    rows = [row | {"variant": arguments.variant} if arguments.variant else row for row in read_rows(arguments.commands)]
    write_records(recorder.run_all(rows), arguments.records)
    return 0


def install(arguments):
    """Subcommand `install`."""
    failed = packages.install(sandbox.base_folder(), arguments.registries or packages.REGISTRIES)
    for name in failed:
        print(f"not installed: {name}")
    return 1 if failed else 0


def seen(_arguments):
    """Subcommand `seen`."""
    names = {name for program in tables.read_programs(CRATE / "programs") for name in program.names}
    packages.write_debian(packages.Installed(sandbox.base_folder()).debian_packages(names))
    return 0


def check_tables(arguments):
    """Subcommand `tables`."""
    every = tables.read_programs(CRATE / "programs")
    programs = selected(every, arguments.names)
    installed = packages.Installed(sandbox.base_folder())
    if arguments.seen:
        records = read_rows(arguments.seen)
    else:
        sandbox.check_machine()
        possible = candidates(programs, installed, arguments.every_name)
        commands = breadth_first(classifier.allowed(arguments.guard, possible))
        print(f"{len(commands)} commands", flush=True)
        recorder = sandbox.Recorder(arguments.jobs, arguments.seconds)
        deadline = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
        rows = until(deadline, ({"command": command} for command in commands))
        records = write_records(recorder.run_all(rows), arguments.records)
    evaluation = results.Evaluation(every, records)
    by_title = {program.title: program for program in every}

    def seen_version(title):
        names = [name for name in by_title[title].names if name in evaluation.ran[title]]
        return version_of(names[0], installed, records) if names else None

    if arguments.report:
        pathlib.Path(arguments.report).write_text(results.report(evaluation, seen_version, len(records)))
    marked = mark(evaluation, programs, installed, records, arguments.write) if arguments.write else []
    print(f"{len(records)} commands, {len(evaluation.ran)} programs ran, {len(evaluation.succeeded)} with success, "
          f"{len(evaluation.violations)} commands did more than read, {len(marked)} tables marked")
    return 0


def cover_tables(arguments):
    """Subcommand `cover`."""
    sandbox.check_machine()
    every = tables.read_programs(CRATE / "programs")
    installed = packages.Installed(sandbox.base_folder())
    chosen = [
        subject for subject in cover.subjects(selected(every, arguments.names), installed)
        if not arguments.registries or subject.registry in arguments.registries
    ]
    if os.path.isfile(arguments.records):
        done = {(record["program"], record["package"]) for record in read_rows(arguments.records)}
        chosen = [subject for subject in chosen if (subject.program.title, subject.package) not in done]
    # Programs of clouds are slow; they come last.
    chosen.sort(key=lambda subject: subject.program.file.parent.name == "cloud")
    machine = sandbox.Recorder(arguments.jobs, arguments.seconds)
    deadline = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    cases = calls.cases_by_program(tables.all_cases(CRATE))
    writing = threading.Lock()
    with tempfile.TemporaryDirectory(dir=machine.base / "work") as folder, open(arguments.records, "a") as out:
        coverage = cover.Coverage(machine, arguments.guard, cases, cover.Folders(machine.lower, pathlib.Path(folder)))

        def cover_chunk(chunk, slot):
            records = coverage.cover(chunk, slot)
            with writing:
                for record in records:
                    out.write(json.dumps(record) + "\n")
                out.flush()
                print(f"{len(records)} calls: {', '.join(subject.name for subject in chunk)}", flush=True)
                for record in records:
                    if reasons := effects.more_than_read(record):
                        print(f"     {record['variant']}: {record['command']}: {'; '.join(reasons[:3])}", flush=True)

        for _ in machine.in_slots(cover_chunk, until(deadline, cover.chunks(chosen))):
            pass
    return 0


def write_figures(arguments):
    """Subcommand `figures`."""
    if arguments.records:
        every = tables.read_programs(CRATE / "programs")
        installed = packages.Installed(sandbox.base_folder())
        machine = sandbox.Recorder(1)
        records = [record for file in arguments.records for record in read_rows(file)]
        with tempfile.TemporaryDirectory(dir=machine.base / "work") as folder:
            coverage = cover.Coverage(machine, arguments.guard, {}, cover.Folders(machine.lower, pathlib.Path(folder)))
            evaluation = figures.evaluate(
                cover.subjects(every, installed), records, coverage.allowed,
                lambda name: version_of(name, installed, records))
        if arguments.report:
            pathlib.Path(arguments.report).write_text(figures.report(evaluation))
        for record in evaluation.violations:
            print(f"{record['variant']}: {record['command']}: {'; '.join(effects.more_than_read(record)[:3])}")
        if not arguments.write:
            return 0
        mark(evaluation, every, installed, records, arguments.write)
        figures.write(evaluation, arguments.write)
    text = PAGE.read_text()
    PAGE.write_text(figures.with_section(text, figures.section(figures.read(), len(open_findings.read()))))
    return 0


def sample(arguments):
    """Subcommand `sample`: the exit status is 1 if a command of the sample did more than read."""
    sandbox.check_machine()
    programs = tables.read_programs(CRATE / "programs")
    installed = packages.Installed(sandbox.base_folder())
    drawn = draw(
        of_checked_programs(candidates(programs, installed), programs), arguments.seed, arguments.count,
        lambda commands: classifier.allowed(arguments.guard, commands))
    known = open_findings.read()
    recorder = sandbox.Recorder(arguments.jobs, arguments.seconds)
    bad, still_open, failed = 0, 0, 0
    for record in recorder.run_all({"command": command} for command in drawn):
        reasons = effects.more_than_read(record)
        if record["status"] == "failed":
            failed += 1
            print(f"FAIL {record['command']}\n     {record['output']}")
        elif reasons and open_findings.matches(known, record["command"]):
            still_open += 1
            print(f"open {record['command']}: {'; '.join(reasons)}")
        elif reasons:
            bad += 1
            print(f"BAD  {record['command']}\n     {'; '.join(reasons)}")
    wrong = bad + failed
    print(f"{len(drawn)} commands, seed {arguments.seed}; {still_open} open")
    print(f"recorder: {len(drawn) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


def compare_planted(arguments):
    """Subcommand `planted`: the exit status is 1 if an allowed command did more than read."""
    sandbox.check_machine()
    path = sandbox.search_path(sandbox.base_folder(), arguments.path)
    plantings, absent = planted.select(planted.read_plantings(), arguments.programs, path)
    recorder = sandbox.Recorder(arguments.jobs, arguments.seconds)
    bare = recorder.lower / planted.VARIANT / sandbox.surroundings.PROJECT.lstrip("/")
    rows = [
        planted.with_whole_files(row, bare) | {"environment": {"PATH": path}}
        for row in planted.draw(plantings, arguments.seed, arguments.count)
    ]
    compared, failed = [], 0
    for record in write_records(recorder.run_all(rows), arguments.records):
        # Folders above are searched, so the folder is not in `/tmp`, where other programs leave settings.
        with tempfile.TemporaryDirectory(dir=recorder.base / "work") as folder:
            decision = planted.decide(arguments.guard, record, recorder.lower, pathlib.Path(folder))
        comparison = planted.compare(record, decision, record)
        compared.append(comparison)
        if comparison.has_failed:
            failed += 1
            print(planted.report("BAD ", record, "; ".join(comparison.reasons)))
        elif comparison.needless and (not record["drawn"] or arguments.verbose):
            print(planted.report("ask ", record, decision.get("reasoning", "")))
    print(planted.summary(compared, arguments.seed, absent))
    print(f"planted: {len(compared) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parser():
    """Returns the parser of the command line."""
    top = argparse.ArgumentParser(description=__doc__)
    commands = top.add_subparsers(required=True, metavar="SUBCOMMAND")

    def add(name, function, text, seconds=True):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(function=function)
        if seconds:
            sub.add_argument("--jobs", type=int, default=2, help="commands at once; default 2")
            sub.add_argument("--seconds", type=float, default=sandbox.SECONDS, help="timeout of a command; default 8")
        return sub

    def add_guard(sub):
        sub.add_argument("--guard", type=os.path.abspath, default=str(REPOSITORY / "target/debug/hooks-guard"),
                         help="binary that decides; default target/debug/hooks-guard")

    sub = add("run", run, "run the commands of a file and write a record of each")
    sub.add_argument("commands", help="file with one JSON object per line: command, files, environment, variant")
    sub.add_argument("records", help="file to write")
    sub.add_argument("--variant", choices=sandbox.surroundings.VARIANTS, help="variant of the surroundings for all rows")
    sub = add("install", install, "install the packages of programs.toml", seconds=False)
    sub.add_argument("registries", nargs="*", choices=packages.REGISTRIES, help="default: all")
    add("seen", seen, "write the packages of Debian with programs of the tables, and their versions, to programs.toml", False)
    sub = add("tables", check_tables, "run the reading commands of tables")
    sub.add_argument("names", nargs="*", help="programs; default: all that are installed")
    add_guard(sub)
    sub.add_argument("--minutes", type=float, help="start no command after this time; every program comes early")
    sub.add_argument("--records", default="/dev/null", help="file to write the records to")
    sub.add_argument("--seen", help="file with records of an earlier run, to evaluate without running")
    sub.add_argument("--report", help="file to write the commands to that did more than read")
    sub.add_argument("--write", metavar="DAY", help="write `checked` with this day into the tables")
    sub.add_argument("--every-name", action="store_true", help="generate calls for every installed name of a program")
    sub = add("cover", cover_tables, "run each reading command of the tables and each of its options")
    sub.add_argument("names", nargs="*", help="programs; default: all that are installed")
    add_guard(sub)
    sub.add_argument("--registries", nargs="+", default=[], help="programs from these registries only")
    sub.add_argument("--minutes", type=float, help="start no program after this time")
    sub.add_argument("--records", default="/dev/null", help="file to append the records to; programs with records in it do not run again")
    sub = add("figures", write_figures, "write the figures of `cover` to the documentation", seconds=False)
    sub.add_argument("records", nargs="*", help="files with records of `cover`; without, the recorded figures are written again")
    add_guard(sub)
    sub.add_argument("--report", help="file to write the calls to that did more than read, and those that never succeeded")
    sub.add_argument("--write", metavar="DAY", help="write `checked` into the tables, and the figures, with this day")
    sub = add("sample", sample, "run a fixed sample of allowed commands")
    add_guard(sub)
    sub.add_argument("--seed", type=int, default=1, help="seed of the sample; default 1")
    sub.add_argument("--count", type=int, default=200, help="number of commands; default 200")
    sub = add("planted", compare_planted, "plant files at random and compare the guard with the programs")
    add_guard(sub)
    sub.add_argument("--seed", type=int, default=1, help="seed of the rows; default 1")
    sub.add_argument("--count", type=int, default=60, help="number of rows; default 60")
    sub.add_argument("--programs", nargs="+", default=[], metavar="NAME", help="programs of plantings.toml; default: all")
    sub.add_argument("--path", metavar="FOLDERS", help="folders of programs that come first, as in PATH")
    sub.add_argument("--records", default="/dev/null", help="file to write the records to")
    sub.add_argument("--verbose", action="store_true", help="print each question about a command that only read")
    return top


def main():
    arguments = parser().parse_args()
    try:
        return arguments.function(arguments)
    except sandbox.Missing as missing:
        print(f"the recorder cannot run here: {missing}", file=sys.stderr)
        return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main())
