"""Runs commands one after the other, and prints a line for each item: the commands that ran, with their exit statuses.

Usage: batch.py SECONDS ITEMS. `sandbox.py` passes this text to `python3 -c`; ITEMS is a list in JSON. An item is a list
of commands, of which the first runs that succeeds; the others behind it do not run.
"""

import json
import os
import signal
import subprocess
import sys
import time

MOST_OUTPUT = 400


def run(command, seconds):
    """Returns a command, its exit status (a number, the name of a signal or `timeout`), the beginning of its output
    and its time in seconds."""
    # A file in memory: no command sees it, and a process that continues does not block its reader.
    output = os.memfd_create("output")
    began = time.monotonic()
    process = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        status = "timeout"
    text = os.pread(output, MOST_OUTPUT, 0).decode(errors="replace")
    os.close(output)
    if isinstance(status, int) and status < 0:
        status = signal.Signals(-status).name
    return command, status, text, round(time.monotonic() - began, 2)


def run_item(commands, seconds):
    """Runs the commands of an item until one succeeds. Returns what `run` returns for each that ran."""
    ran = []
    for command in commands:
        ran.append(run(command, seconds))
        if ran[-1][1] == 0:
            break
    return ran


def main():
    for item in json.loads(sys.argv[2]):
        print(json.dumps(run_item(item, float(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
