"""Runs commands in namespaces of their own and returns a record of each.

A command runs as an ordinary user in an overlay of the whole system, without a network and without other
processes. The changes are in memory and are discarded.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile

import effects
import inside
import surroundings
import trace as tracing

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 8
NEEDED = ("unshare", "strace", "setpriv", "chroot", "mount", "ip", "git", "bash")
MOST_PROGRAMS = 40
# A record lists at most this number of changes in each place.
MOST_LISTED = 60
# A word that names a file with an ending, or a folder, below the project.
FILE_WORD = re.compile(r"(?<![\w$/~.=-])(?:\./)?[A-Za-z0-9_][\w./-]*\.[A-Za-z0-9.]+(?![\w(])")
FOLDER_WORD = re.compile(r"(?<![\w$/~.-])([a-z]{3,10})/(?=[\s\"']|$)")


class Missing(Exception):
    """This machine cannot run the recorder; the text names what is missing."""


def base_folder():
    """Returns the folder of the recorder: `RECORDER_DIR`, default `/var/tmp/recorder`."""
    return pathlib.Path(os.environ.get("RECORDER_DIR", "/var/tmp/recorder")).absolute()


def search_path(base, first=None):
    """Returns the `PATH` of the commands; `first` has folders that come before the others."""
    folders = [first, f"{base}/tools/bin", inside.PATH]
    return ":".join(filter(None, folders))


def check_machine():
    """Raises `Missing` if this machine lacks a program, root, namespaces or overlays."""
    if os.geteuid() != 0:
        raise Missing("the recorder needs root")
    lacking = [name for name in NEEDED if shutil.which(name) is None]
    if lacking:
        raise Missing(f"missing programs: {', '.join(lacking)}")
    test = (
        "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/r && "
        "mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r"
    )
    done = subprocess.run(["unshare", "-mnpiu", "--fork", "sh", "-c", test], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"no namespaces or no overlays: {done.stderr.strip()}")


class Recorder:
    """Runs commands with a number of workers."""

    def __init__(self, workers=2, seconds=SECONDS, base=None):
        self.base = base or base_folder()
        self.base.mkdir(parents=True, exist_ok=True)
        self.lower = surroundings.prepare(self.base)
        self.seconds = seconds
        self.workers = workers
        self.project = self.lower / "plain" / surroundings.PROJECT.lstrip("/")
        self.samples = samples_by_ending(self.project)
        (self.base / "work").mkdir(exist_ok=True)

    def run_all(self, rows):
        """Yields a record for each row, in order."""
        return self.in_slots(self.run, rows)

    def in_slots(self, function, rows):
        """Yields the result of a function for each row, in order. The function takes the row and scratch space."""
        with tempfile.TemporaryDirectory(dir=self.base / "work") as folder:
            slots = queue.SimpleQueue()
            for number in range(self.workers):
                slots.put(pathlib.Path(folder, str(number)))

            def run(row):
                slot = slots.get()
                try:
                    return function(row, slot)
                finally:
                    shutil.rmtree(slot, ignore_errors=True)
                    slots.put(slot)

            # `map` would take all rows at once, and `rows` may end early.
            with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
                started = collections.deque()
                for row in rows:
                    started.append(pool.submit(run, row))
                    if len(started) >= 2 * self.workers:
                        yield started.popleft().result()
                while started:
                    yield started.popleft().result()

    def run_batch(self, batch, folder):
        """Returns the records of the items of a batch; an item is a list of commands, of which one has to succeed.

        `batch` has the keys `items`, `variant` and `files`. The items run one after the other in one sandbox. If they
        did more than read together, each half runs again, and at last each command in a sandbox of its own.
        Returns a list of records for each item.
        """
        items = batch["items"]
        whole = self.run({key: value for key, value in batch.items()} | {"command": items[0][0]}, folder)
        shutil.rmtree(folder)
        if whole["status"] not in ("failed", "timeout") and not effects.more_than_read(whole):
            ran = [json.loads(line) for line in whole["output"].splitlines()]
            has_git = any(program["path"].endswith("/git") for program in whole["programs"])
            return [
                [{"command": command, "variant": batch["variant"], "status": status, "output": text, "seconds": seconds,
                  "ran_git": has_git} for command, status, text, seconds in item]
                for item in ran
            ]
        if len(items) > 1:
            half = len(items) // 2
            return [
                *self.run_batch(batch | {"items": items[:half]}, folder),
                *self.run_batch(batch | {"items": items[half:]}, folder),
            ]
        records = []
        for command in items[0]:
            row = {"command": command, "variant": batch["variant"], "files": batch["files"]}
            records.append(self.run(row, folder))
            shutil.rmtree(folder)
            if records[-1]["status"] == 0:
                break
        return [[{key: value for key, value in record.items() if key != "files"} for record in records]]

    def run(self, row, folder):
        """Returns the record of a row; `folder` is scratch space."""
        extra = folder / "extra"
        write_operands(extra, row, self.project, self.samples)
        job = {
            **({"items": row["items"]} if "items" in row else {}),
            "command": row["command"],
            "environment": row.get("environment", {}),
            "layers": [str(extra), *map(str, surroundings.layers(self.lower, row.get("variant", "plain")))],
            "tools": str(self.base / "tools"),
            "home": surroundings.HOME,
            "project": surroundings.PROJECT,
            "user": surroundings.USER,
            "seconds": self.seconds,
        }
        (folder / "job.json").write_text(json.dumps(job))
        words = ["unshare", "-mnpiu", "--fork", "--kill-child", "--mount-proc", sys.executable, str(HERE / "inside.py")]
        try:
            done = subprocess.run(
                [*words, str(folder)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                # No command may take the terminal of the recorder, or be stopped by it.
                start_new_session=True,
                timeout=self.seconds * count_commands(row) + 60)
            result = json.loads((folder / "result.json").read_text())
        except (subprocess.TimeoutExpired, OSError) as error:
            why = str(error) if isinstance(error, subprocess.TimeoutExpired) else done.stderr[-400:]
            return row | {"status": "failed", "output": why}
        shell = "python3" if "items" in row else "bash"
        shown = tracing.Trace((folder / "trace").read_text(errors="replace"), shell)
        return row | record_of(result, shown, None if "items" in row else MOST_PROGRAMS)


def count_commands(row):
    """Returns the number of commands of a row or a batch."""
    return sum(map(len, row.get("items", [[""]])))


def record_of(result, shown, most_programs=MOST_PROGRAMS):
    """Returns the fields of a record that the run of the command adds."""
    places = {"project": [], "home": [], "system": []}
    markers = []
    for change in result["changes"]:
        path = change["path"]
        if path.startswith(surroundings.MARKERS + "/"):
            markers.append(path.rsplit("/", 1)[1])
        elif path.startswith(surroundings.PROJECT + "/"):
            places["project"].append(change)
        elif path.startswith(surroundings.HOME + "/"):
            places["home"].append(change)
        else:
            places["system"].append(change)
    return {
        "status": shown.status if result["in_time"] else "timeout",
        "output": result["output"],
        "ran": markers + project_programs(shown.programs),
        **{place: listed[:MOST_LISTED] for place, listed in places.items()},
        "temporary": result["temporary"],
        "connected": sorted(shown.connections),
        "programs": [
            {"path": program["path"], "words": program["words"][:8], "status": program.get("status")}
            for program in shown.programs[1:]
        ][:most_programs],
        "signals": shown.foreign_signals(),
        "left_running": result["left_running"],
    }


def project_programs(programs):
    """Returns the programs that are files of the project."""
    return sorted({
        program["path"] for program in programs
        if program["path"].startswith((surroundings.PROJECT + "/", "./", "../")) or "/" not in program["path"]
    })


def samples_by_ending(project):
    """Returns the name of a file of the project for each ending, such as `.tar.gz`."""
    samples = {}
    for name in sorted(os.listdir(project)):
        if (project / name).is_file():
            samples.setdefault(name[name.find(".", 1):] if "." in name[1:] else "", name)
    return samples


def sample_for(name, samples):
    """Returns the name of the project's file with the longest equal ending."""
    name = os.path.basename(name)
    endings = (name[at:] for at, letter in enumerate(name) if letter == ".")
    return next((samples[ending] for ending in endings if ending in samples), "a.txt")


def named_files(command):
    """Returns the relative files and the folders that a command names, by the form of the words."""
    files = [word.removeprefix("./") for word in FILE_WORD.findall(command)]
    folders = FOLDER_WORD.findall(command)
    return [name for name in files if ".." not in name], folders


def write_operands(extra, row, project, samples):
    """Writes the files that a command names and the project lacks, and the files of the row."""
    root = extra / surroundings.PROJECT.lstrip("/")
    root.mkdir(parents=True)
    # The bare project has the files of the row only.
    commands = [command for item in row.get("items", [[row["command"]]]) for command in item]
    named = [named_files(command) for command in commands if row.get("variant") != "bare"]
    files = {name for found, _ in named for name in found}
    folders = {name for _, found in named for name in found}
    for name in files:
        if not os.path.lexists(project / name):
            copy_sample(project / sample_for(name, samples), root / name)
    for name in folders:
        copy_sample(project / "a.txt", root / name / "a.txt")
    for name, text in row.get("files", {}).items():
        write_planted(place_of(extra, name), text)
    subprocess.run(["chown", "-R", "-h", f"{surroundings.USER}:{surroundings.USER}", extra / "home"], check=True)


def copy_sample(source, target):
    """Copies a file. An operand that is a folder of another operand stays a folder."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    except OSError:
        pass


def place_of(extra, name):
    """Returns where a planted file is written: `~/NAME`, `/NAME`, or a path in the project."""
    if name.startswith("~/"):
        return extra / surroundings.HOME.lstrip("/") / name[2:]
    if name.startswith("/"):
        return extra / name.lstrip("/")
    return extra / surroundings.PROJECT.lstrip("/") / name


def write_planted(path, text):
    """Writes a planted file; `-> TARGET` makes a symbolic link. A text with `#!` makes it executable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.is_file():
        path.unlink()
    if text.startswith("-> "):
        path.symlink_to(text[3:].strip())
        return
    path.write_text(text)
    if text.startswith("#!"):
        path.chmod(0o755)
