"""Decisions of `hooks-guard check` about commands."""

import json
import subprocess


def decisions(guard, commands):
    """Returns the decision about each command by the tables only, as `hooks-guard check --json` prints it."""
    lines = "".join(json.dumps({"command": command}) + "\n" for command in commands)
    done = subprocess.run(
        [guard, "check", "--json", "--tables-only"], input=lines, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"`{guard} check` failed: {done.stderr.strip()}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if len(rows) != len(commands):
        raise RuntimeError(f"`{guard} check` returned {len(rows)} decisions for {len(commands)} commands")
    return rows


def allowed(guard, commands):
    """Returns the commands that are allowed because they only read."""
    commands = list(dict.fromkeys(commands))
    return [
        command for command, row in zip(commands, decisions(guard, commands))
        if row.get("decision") == "AUTO_ALLOWED" and row.get("classification") == "READ"
    ]
