"""Commands that are known to do more than read while the tables allow them.

Each line of `open.txt` is the beginning of a command and its effect, separated by ` # `. `sample` reports
such a command as open instead of failing.
"""

import pathlib

LIST = pathlib.Path(__file__).resolve().parent / "open.txt"


def read(path=LIST):
    """Returns the beginnings of commands in the list."""
    lines = path.read_text().splitlines()
    return [line.split(" # ", 1)[0].rstrip() for line in lines if line.strip() and not line.startswith("#")]


def matches(beginnings, command):
    """Returns `True` if a command, or a part of it after a separator, begins with a beginning."""
    parts = [command.strip()]
    for separator in ("|", ";", "&&", "\n"):
        parts = [piece.strip() for part in parts for piece in part.split(separator)]
    return any(part == beginning or part.startswith(beginning + " ") for part in parts for beginning in beginnings)
