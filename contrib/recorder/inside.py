"""Runs one command in the namespaces that `sandbox.py` has made.

Usage: inside.py FOLDER. Reads `FOLDER/job.json`; writes `FOLDER/result.json` and `FOLDER/trace`.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import changes

MOST_OUTPUT = 4000
MOST_TRACE = 4 << 20
MOST_BATCH_OUTPUT = 4 << 20
GRACE = 1.0
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"
# Folders of the sandbox in which a command may leave temporary files.
TEMPORARY = ("tmp", "var/tmp", "run", "dev/shm")


def mount(*words):
    """Runs `mount`; raises an error if it fails."""
    subprocess.run(["mount", *words], check=True, stderr=subprocess.DEVNULL)


def mount_root(folder, job):
    """Mounts the overlay of the system, and the file systems in it.

    Returns the root, the upper folder and the layers below it. Overlays refuse a layer within another
    layer, so the layers of the job are copied to memory.
    """
    memory = folder / "memory"
    mount("--make-rprivate", "/")
    memory.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "tmpfs", str(memory))
    root, upper, work = memory / "root", memory / "upper", memory / "work"
    for path in (root, upper, work):
        path.mkdir()
    layers = []
    for number, layer in enumerate(job["layers"]):
        layers.append(str(memory / f"layer{number}"))
        subprocess.run(["cp", "-a", layer, layers[-1]], check=True)
    layers.append("/")
    mount("-t", "overlay", "overlay", "-o", f"lowerdir={':'.join(layers)},upperdir={upper},workdir={work}", str(root))
    mount("-t", "proc", "proc", str(root / "proc"))
    mount("--rbind", "/dev", str(root / "dev"))
    mount("-t", "sysfs", "-o", "ro", "sysfs", str(root / "sys"))
    for path in TEMPORARY:
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / path))
    tools = job["tools"]
    inner = root / tools.lstrip("/")
    inner.mkdir(parents=True, exist_ok=True)
    if os.path.isdir(tools):
        mount("--bind", tools, str(inner))
        mount("-o", "remount,bind,ro", str(inner))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False, stderr=subprocess.DEVNULL)
    return root, upper, layers


def command_line(root, trace, job):
    """Returns the words that run the command under strace, as an ordinary user."""
    user = str(job["user"])
    variables = {
        "HOME": job["home"], "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash", "TERM": "dumb", "LANG": "C.UTF-8",
        "PATH": f"{job['tools']}/bin:{PATH}",
    } | job["environment"]
    words = ["bash", "-c", job["command"]]
    if "items" in job:
        words = [PYTHON, "-c", (HERE / "batch.py").read_text(), str(job["seconds"]), json.dumps(job["items"])]
    return [
        "strace", "-f", "-q", "-s", "64", "--seccomp-bpf", "-e", "signal=none", "-o", str(trace),
        "-e", "trace=clone,clone3,connect,execve,fork,kill,pidfd_send_signal,tgkill,tkill,vfork",
        "chroot", str(root), "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--bounding-set", "-all",
        "--no-new-privs", "env", "-i", "-C", job["project"], *(f"{name}={value}" for name, value in variables.items()),
        *words,
    ]


def first_process(trace):
    """Returns the number of the first process in a trace, or `None`."""
    try:
        with open(trace) as file:
            return int(file.readline().split(" ", 1)[0])
    except (OSError, ValueError):
        return None


def is_running(process):
    """Returns `True` for a process that exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def survivors(strace):
    """Returns the names of the processes of the sandbox, without this one and strace."""
    names = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in (os.getpid(), strace) and is_running(entry):
            try:
                names.append(pathlib.Path(f"/proc/{entry}/comm").read_text().strip())
            except OSError:
                continue
    return sorted(names)


def run_command(words, output, trace, seconds):
    """Runs the command. Returns `True` if it ended in time, and the names of processes that it left."""
    with open(output, "wb") as out:
        strace = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    deadline, left_since = time.monotonic() + seconds, None
    main = None
    while strace.poll() is None:
        now = time.monotonic()
        main = main or first_process(trace)
        if left_since is None and main and not is_running(main):
            left_since = now
        if left_since is not None and now > left_since + GRACE:
            return True, survivors(strace.pid)
        if now > deadline:
            return False, []
        time.sleep(0.02)
    return True, []


def temporary_files(root):
    """Returns the files that the command left in folders of temporary files."""
    found = []
    for path in TEMPORARY:
        for folder, folders, files in os.walk(root / path):
            folders[:] = [name for name in folders if not os.path.ismount(os.path.join(folder, name))]
            found += [os.path.join("/", os.path.relpath(os.path.join(folder, name), root)) for name in files]
    return found[:50]


def main():
    folder = pathlib.Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    root, upper, layers = mount_root(folder, job)
    memory = folder / "memory"
    output, trace = memory / "output", memory / "trace"
    # A command that does not end is killed after its seconds; a batch may take those of each of its commands.
    seconds = job["seconds"] * sum(map(len, job.get("items", [[""]])))
    in_time, left = run_command(command_line(root, trace, job), output, trace, seconds)
    result = {
        "in_time": in_time,
        "left_running": left,
        "output": changes.read_bytes(output, MOST_BATCH_OUTPUT if "items" in job else MOST_OUTPUT).decode(errors="replace"),
        "changes": changes.list_changes(str(upper), layers),
        "temporary": temporary_files(root),
    }
    (folder / "trace").write_bytes(changes.read_bytes(trace, MOST_TRACE))
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
