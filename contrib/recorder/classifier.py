"""Decisions of `hooks-guard check` about commands."""

import json
import subprocess


def decisions(guard, commands, project=None):
    """Returns the decision about each command, as `hooks-guard check --json` prints it.

    Without `project`, the tables decide alone. With it, the command runs in this folder, whose home is the folder above.
    """
    lines = "".join(json.dumps({"command": command}) + "\n" for command in commands)
    words = [guard, "check", "--json", *([] if project else ["--tables-only"])]
    variables = {"HOME": str(project.parent), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"} if project else None
    done = subprocess.run(
        words, input=lines, capture_output=True, text=True, check=False, cwd=project, env=variables)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"`{guard} check` failed: {done.stderr.strip()}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if len(rows) != len(commands):
        raise RuntimeError(f"`{guard} check` returned {len(rows)} decisions for {len(commands)} commands")
    return rows


def allowed(guard, commands, project=None):
    """Returns the commands that are allowed because they only read; see `decisions`."""
    commands = list(dict.fromkeys(commands))
    return [
        command for command, row in zip(commands, decisions(guard, commands, project))
        if row.get("decision") == "AUTO_ALLOWED" and row.get("classification") == "READ"
    ]
