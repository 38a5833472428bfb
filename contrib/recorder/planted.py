"""Plants files beside reading commands at random, and compares the guard with the record of the run.

`plantings.toml` lists the programs, their commands and the files. A row is a command and its planted files.
"""

import dataclasses
import json
import pathlib
import random
import re
import shutil
import subprocess
import tomllib

import effects
import sandbox
import surroundings

PLANTINGS = pathlib.Path(__file__).resolve().parent / "plantings.toml"
VARIANT = "bare"
FOLDER = "web"
# Folder of the command, and folder of the planted files.
PLACES = {("", ""): 4, (FOLDER, ""): 2, (FOLDER, FOLDER): 2, ("", FOLDER): 1}
# Number of drawn entries of a pool.
SIZES = {0: 1, 1: 4, 2: 2, 3: 1}
# Files of a repository have one place.
REPOSITORY_FILE = re.compile(r"^\+?\.(git|hg)/")


@dataclasses.dataclass(frozen=True)
class Planting:
    """A program, its reading commands and the files that may be planted beside them."""

    name: str
    needs: tuple
    commands: tuple
    base: dict
    pool: tuple


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Result of comparing a decision with a record."""

    is_allowed: bool
    reasons: list
    has_failed: bool
    needless: bool


def read_plantings():
    """Returns the programs of `plantings.toml`."""
    entries = tomllib.loads(PLANTINGS.read_text())["program"]
    return [
        Planting(
            entry["name"], tuple(entry.get("needs", [entry["name"]])), tuple(entry["commands"]),
            entry.get("base", {}), tuple(entry["pool"]))
        for entry in entries
    ]


def select(plantings, names, path):
    """Returns the programs with the names that are installed, and the names of programs that are not.

    Without names, all programs are selected. `path` has the folders of programs, as in `PATH`.
    """
    if unknown := sorted(set(names) - {planting.name for planting in plantings}):
        raise SystemExit(f"unknown program `{unknown[0]}`; use a name of plantings.toml")
    chosen = [planting for planting in plantings if not names or planting.name in names]
    present = [
        planting for planting in chosen if all(shutil.which(name, path=path) for name in planting.needs)
    ]
    return present, [planting.name for planting in chosen if planting not in present]


def expand(text, file, folder):
    """Returns the text of a planted file with the code of its placeholders."""
    marker = f"planted-{file.lstrip('+').replace('/', '_')}"
    path = f"{surroundings.MARKERS}/{marker}"
    code = {
        "SH": f"#!/bin/sh\n{surroundings.touch(marker)}\n",
        "JS": f"require('fs').writeFileSync('{path}', '');\n",
        "ESM": f"import {{writeFileSync}} from 'fs';\nwriteFileSync('{path}', '');\n",
        "PY": f"open('{path}', 'w')\n",
        "OPEN": f"open('{path}', 'w')",
        "RUN": surroundings.touch(marker),
        "HERE": f"{surroundings.PROJECT}/{folder}".rstrip("/"),
    }
    return re.sub(r"@([A-Z]+)@", lambda match: code.get(match[1], match[0]), text)


def place(entry, folder):
    """Returns the files of an entry with their paths in the project; `folder` is where they are planted."""
    files = {}
    for name, text in entry.items():
        path = name if REPOSITORY_FILE.match(name) or not folder else f"{folder}/{name}"
        files[path] = expand(text, name, folder)
    return files


def merge(files, added, settled):
    """Adds files to `files`. Returns `False`, and adds nothing, if one of them differs from a file of `settled`.

    A path with `+` is appended to an earlier one.
    """
    if any(not name.startswith("+") and files.get(name, text) != text for name, text in added.items() if name in settled):
        return False
    for name, text in added.items():
        files[name] = files.get(name, "") + text if name.startswith("+") else text
    settled.update(added)
    return True


def draw_row(planting, seed, number):
    """Returns the row with a number of a program. The rows of other programs do not change it."""
    chance = random.Random(f"{seed} {planting.name} {number}")
    command = chance.choice(planting.commands)
    run_in, plant_in = chance.choices(list(PLACES), list(PLACES.values()))[0]
    size = chance.choices(list(SIZES), list(SIZES.values()))[0]
    files, settled, drawn = place(planting.base, run_in), set(), {}
    for entry in chance.sample(planting.pool, min(size, len(planting.pool))):
        added = place(entry, plant_in)
        if merge(files, added, settled):
            for name, text in added.items():
                drawn[name] = drawn.get(name, "") + text if name.startswith("+") else text
    return {
        "command": f"cd {run_in} && {command}" if run_in else command,
        "files": files,
        "variant": VARIANT,
        "program": planting.name,
        "drawn": drawn,
    }


def draw(plantings, seed, count):
    """Returns rows of the programs, which take turns in an order that the seed decides."""
    order = list(plantings)
    random.Random(f"{seed}").shuffle(order)
    return [draw_row(order[number % len(order)], seed, number // len(order)) for number in range(count)] if order else []


def with_whole_files(row, project):
    """Returns the row with the text of the project's file before each text that is appended to it."""
    files = {}
    for name, text in row["files"].items():
        if not name.startswith("+"):
            files[name] = text
            continue
        below = project / name[1:]
        files[name[1:]] = (below.read_text() if below.is_file() else "") + text
    return row | {"files": files}


def write_for_guard(row, lower, folder):
    """Writes the project of a row below a folder, for the guard. Returns the home and the project.

    Paths of the sandbox in the texts become paths below the folder.
    """
    shutil.copytree(lower / VARIANT, folder, symlinks=True, dirs_exist_ok=True)
    home = folder / surroundings.HOME.lstrip("/")
    shutil.rmtree(home / ".ran", ignore_errors=True)
    for name, text in row["files"].items():
        sandbox.write_planted(sandbox.place_of(folder, name), text.replace(surroundings.HOME, str(home)))
    return home, folder / surroundings.PROJECT.lstrip("/")


def decide(guard, row, lower, folder):
    """Returns the decision about the command of a row, as `hooks-guard check --json` prints it."""
    home, project = write_for_guard(row, lower, folder)
    variables = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [guard, "check", "--json", row["command"]], cwd=project, env=variables, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"`{guard} check` failed: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[0])


def leads_out(path, files):
    """Returns `True` for a planted link to a program outside of the project, as a virtual environment has."""
    name = path.removeprefix(surroundings.PROJECT + "/").removeprefix("./")
    return any(
        (file == name or file.endswith("/" + name)) and text.startswith("-> /") and not text.startswith(f"-> {surroundings.HOME}")
        for file, text in files.items()
    )


def compare(row, decision, record):
    """Compares the decision about a row with the record of its run."""
    ran = [name for name in record.get("ran", []) if not leads_out(name, row["files"])]
    reasons = effects.more_than_read(record | {"ran": ran})
    is_allowed = decision["decision"] == "AUTO_ALLOWED"
    did_not_run = record["status"] in ("failed", 127)
    if did_not_run:
        reasons = [f"did not run: {record.get('output', '').strip()[-200:]}"]
    return Comparison(
        is_allowed, reasons, did_not_run or (is_allowed and bool(reasons)),
        not is_allowed and not reasons)


def report(word, row, why):
    """Returns the lines about a row: its command, its planted files, and why it is reported."""
    files = "\n".join(f"     {name}: {text[:200]!r}" for name, text in row["drawn"].items())
    return f"{word} {row['command']}\n" + (files + "\n" if files else "") + f"     {why}"


def summary(compared, seed, absent):
    """Returns the line with the numbers of the comparisons."""
    allowed = sum(comparison.is_allowed for comparison in compared)
    harmless = sum(not comparison.reasons for comparison in compared)
    needless = sum(comparison.needless for comparison in compared)
    text = (f"{len(compared)} rows, seed {seed}; {allowed} allowed; "
            f"asked about {needless} of {harmless} commands that only read")
    return text + (f"; not installed: {', '.join(absent)}" if absent else "")
