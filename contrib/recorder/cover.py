"""Runs each command and each option of the tables that only reads, at least once, in several variants."""

import dataclasses
import shutil

import calls
import classifier
import packages
import results
import sandbox
import surroundings
import tables

# Items of one batch, options and commands of the programs that share batches, and flags that are tested together in a program whose calls take longer than `SLOW` seconds.
MOST_ITEMS = 60
MOST_CALLS = 60
MOST_TOGETHER = 8
SLOW = 0.4
MOST_FILE = 4000


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """A program of a table from one package. Names of one entry from several packages are several programs."""

    program: tables.Program
    name: str
    registry: str
    package: str


def subjects(programs, installed):
    """Returns the installed programs of the tables."""
    namesakes = packages.read_list()["namesakes"]
    found = {}
    for program in programs:
        for name in program.names:
            if program.title in namesakes or not installed.has(name):
                continue
            if name in results.bash_builtins():
                origin = ("bash", "bash")
            else:
                origin = installed.origin_of("python3" if name.startswith("python -m ") else name)
            found.setdefault((program.title, *origin), Subject(program, name, *origin))
    return list(found.values())


class Folders:
    """Copies of the projects of the variants, in which the guard decides with the files beside a command."""

    def __init__(self, lower, base):
        self.base = base
        for variant in ("plain", "repository", "bare"):
            for layer in reversed(surroundings.layers(lower, variant)):
                shutil.copytree(layer, base / variant, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(base / variant / surroundings.HOME.lstrip("/") / ".ran", ignore_errors=True)

    def project(self, variant):
        """Returns the project of a variant."""
        return self.base / variant / surroundings.PROJECT.lstrip("/")


class Coverage:
    """Covers one program after the other."""

    def __init__(self, machine, guard, cases, folders, with_repository=True):
        self.machine = machine
        self.guard = guard
        self.cases = cases
        self.folders = folders
        self.with_repository = with_repository

    def allowed(self, commands, variant=None):
        """Returns the allowed commands as a set; with a variant, the files beside the commands count."""
        return set(classifier.allowed(self.guard, commands, variant and self.folders.project(variant))) if commands else set()

    def by_variant(self, items):
        """Returns items of commands by the variant in which they run: without a reason to ask in the plain project, or bare."""
        every = [command for item in items for command in item]
        tables_only = self.allowed(every)
        plain = self.allowed(sorted(tables_only), "plain")
        bare = self.allowed(sorted(tables_only - plain), "bare")
        return {
            "plain": [kept for item in items if (kept := [command for command in item if command in plain])],
            "bare": [kept for item in items if (kept := [command for command in item if command in bare])],
        }

    def files_of(self, items):
        """Returns the texts of the files that commands name, for the bare project; code that touches a marker is left out."""
        found = {}
        for command in (command for item in items for command in item):
            for name in sandbox.named_files(command)[0]:
                source = self.machine.project / name
                if not source.exists():
                    source = self.machine.project / sandbox.sample_for(name, self.machine.samples)
                text = source.read_bytes()[:MOST_FILE] if source.is_file() else b""
                if text and b"\0" not in text and surroundings.MARKERS.encode() not in text:
                    found[name] = text.decode(errors="replace")
        return found

    def run(self, items, variant, slot):
        """Returns the records of the commands of items."""
        records = []
        for at in range(0, len(items), MOST_ITEMS):
            part = items[at:at + MOST_ITEMS]
            batch = {"items": part, "variant": variant, "files": self.files_of(part) if variant == "bare" else {}}
            records += [record for item in self.machine.run_batch(batch, slot) for record in item]
        return records

    def run_allowed(self, items, slot):
        """Returns the records of the commands of items, each in the plain project or in the bare one."""
        return [
            record for variant, part in self.by_variant(items).items() for record in self.run(part, variant, slot)
        ]

    def cover(self, chunk, slot):
        """Returns the records of the calls of some programs, with the keys `path`, `options` and those of the program."""
        owners, first = {}, []
        for subject in chunk:
            for path, entry, options in calls.entries_of(subject.program):
                texts = calls.bases(subject.program, subject.name, path, entry, self.cases)
                first.append(texts)
                owners |= {text: (subject, path, options) for text in texts}
        records = [
            record | {"owner": owners[record["command"]], "options": []} for record in self.run_allowed(first, slot)
        ]
        best = {}
        for record in records:
            subject, path, _ = record["owner"]
            if (subject, path) not in best or (record["status"] == 0) > (best[subject, path]["status"] == 0):
                best[subject, path] = record
        records += self.cover_options(chunk, best, slot)
        if self.with_repository:
            records += self.in_repository(records, slot)
        return [with_names(record) for record in records]

    def cover_options(self, chunk, best, slot):
        """Returns the records of the calls with options.

        Slow programs get one value of each option. Their flags are tested together first, and alone if this fails; so are
        all options of a slow command that fails without them, too, and these never alone.
        """
        single, together, known = [], [], {}
        # A command that was not run may be allowed with one of its options.
        based = [
            (subject, path, options, best.get((subject, path), {"command": f"{subject.name} {path}".strip(), "status": None}),
             calls.calls_of_cases(subject.program, subject.name, path, self.cases))
            for subject in chunk for path, _, options in calls.entries_of(subject.program)
        ]
        harmless = self.allowed([
            text for subject, path, options, base, of_cases in based for tested in options
            for text in calls.option_calls(subject.name, path, tested, base["command"], of_cases)
        ])
        for subject, path, options, base, of_cases in based:
            if base["status"] != "timeout":
                owner = (subject, path, options)
                is_slow, flags, hopeless = base.get("seconds", 0) > SLOW, [], []
                for tested in options:
                    texts = calls.option_calls(subject.name, path, tested, base["command"], of_cases)
                    texts = [text for text in texts if text in harmless][:1 if is_slow else None]
                    if not texts:
                        continue
                    for text in texts:
                        known.setdefault(text, (owner, []))[1].append(tested.name)
                    if is_slow and base["status"] != 0 and not tested.is_alone:
                        hopeless.append((tested, []))
                    elif is_slow and tested.is_flag:
                        flags.append((tested, texts))
                    else:
                        single.append(texts)
                for group in (flags, hopeless):
                    for at in range(0, len(group), MOST_TOGETHER):
                        part = group[at:at + MOST_TOGETHER]
                        spelling = " ".join(calls.spellings(tested)[0] for tested, _ in part)
                        text = calls.with_option(base["command"], subject.name, path, spelling)
                        known[text] = (owner, [tested.name for tested, _ in part])
                        together.append((text, [texts for _, texts in part if texts]))
        records = self.run_allowed([[text] for text, _ in together], slot)
        succeeded = {record["command"] for record in records if record["status"] == 0}
        single += [texts for text, alone in together if text not in succeeded for texts in alone]
        records += self.run_allowed(single, slot)
        return [record | dict(zip(("owner", "options"), known[record["command"]])) for record in records]

    def in_repository(self, records, slot):
        """Returns the records of the calls that succeeded, in a repository with settings that run programs.

        Only programs that start git run there with all their options.
        """
        chosen = [
            record for record in records
            if record["status"] == 0 and record["variant"] == "plain"
            and (not record["options"] or record.get("ran_git") or record["command"].startswith("git "))
        ]
        allowed = self.allowed([record["command"] for record in chosen], "repository")
        by_command = {record["command"]: record for record in chosen if record["command"] in allowed}
        again = self.run([[command] for command in by_command], "repository", slot)
        return [record | {key: by_command[record["command"]][key] for key in ("owner", "options")} for record in again]


def with_names(record):
    """Returns a record with the names of its program and its command instead of its owner."""
    subject, path, _ = record.pop("owner")
    return record | {
        "program": subject.program.title, "registry": subject.registry, "package": subject.package,
        "name": subject.name, "path": path}


def chunks(chosen):
    """Yields programs together that share sandboxes: few large ones or several small ones of one family."""
    chunk, size = [], 0
    for subject in chosen:
        if chunk and (size > MOST_CALLS or subject.program.file.parent != chunk[0].program.file.parent):
            yield chunk
            chunk, size = [], 0
        chunk.append(subject)
        size += sum(1 + len(options) for _, _, options in calls.entries_of(subject.program))
    if chunk:
        yield chunk
