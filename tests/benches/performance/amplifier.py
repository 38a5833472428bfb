"""The contenders in Python: `amplifier-core`, and a plain loop over the same handlers.

Reads lines `CONTENDER HANDLERS EMISSIONS` and prints the nanoseconds of processor time per emission,
of all threads of the process. All emissions are awaited one after the other in one event loop.
"""

import asyncio
import logging
import os
import sys
import time

from amplifier_core.hooks import HookRegistry, HookResult

EVENT = "tool:pre"
FOLDERS = ["/etc/", "/boot/", "/dev/", "/proc/"]


def handler(folder):
    async def check(event, data):
        if data.get("tool_name") == "Write" and folder in data.get("file_path", ""):
            return HookResult(action="deny", reason="holds secrets")
        return HookResult(action="continue")

    return check


def data():
    return {
        "session_id": "5f2c9b1e",
        "tool_name": "Write",
        "file_path": "/workspace/project/src/main.rs",
        "checked": False,
        "content": "fn main() {}",
    }


async def amplifier(handlers, emissions):
    registry = HookRegistry()
    for handler in handlers:
        registry.register(EVENT, handler)
    given = data()
    result = await registry.emit(EVENT, given)
    assert result.action == "continue", result
    begin = time.process_time_ns()
    for _ in range(emissions):
        result = await registry.emit(EVENT, given)
    return time.process_time_ns() - begin


async def loop(handlers, emissions):
    given = data()
    begin = time.process_time_ns()
    for _ in range(emissions):
        for handler in handlers:
            result = await handler(EVENT, given)
            if result.action == "deny":
                break
    return time.process_time_ns() - begin


async def main():
    contenders = {"amplifier": amplifier, "loop": loop}
    print(sys.version.split()[0], flush=True)
    for line in sys.stdin:
        contender, handlers, emissions = line.split()
        handlers = [handler(folder) for folder in FOLDERS[: int(handlers)]]
        nanos = await contenders[contender](handlers, int(emissions))
        print(nanos / int(emissions), flush=True)


logging.disable(logging.CRITICAL)
asyncio.run(main())
# The threads of the package may outlast the interpreter: end the process without its clean-up.
os._exit(0)
