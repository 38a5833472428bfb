#!/usr/bin/env bash
# Guess: a check that fails is handled in one way, whether it raises or returns nonsense.
# True: in amplifier-core, a handler that raises is skipped and the operation continues, but a
# handler that returns an unknown action, a wrong type, a text or a number denies the operation, and
# hides the later handlers. `None` continues.
# Version: amplifier-core 2.0.2 of PyPI. Source: `HookRegistry.emit`, run below; its
# documentation mentions only exceptions.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet amplifier-core==2.0.2
cat >check.py <<'PYTHON'
import asyncio, importlib.metadata, logging, os

from amplifier_core.hooks import HookRegistry, HookResult

logging.disable(logging.CRITICAL)


async def raises(event, data):
    raise RuntimeError("the check is broken")


def returning(value):
    async def check(event, data):
        return value

    return check


async def action_of(first):
    registry = HookRegistry()
    later = []

    async def second(event, data):
        later.append(event)
        return HookResult()

    registry.register("tool:pre", first, priority=0)
    registry.register("tool:pre", second, priority=1)
    result = await registry.emit("tool:pre", {"tool_name": "write"})
    return result.action, bool(later)


async def main():
    print("amplifier-core", importlib.metadata.version("amplifier-core"))
    cases = {
        "raises": (raises, ("continue", True)),
        "returns None": (returning(None), ("continue", True)),
        "unknown action": (returning({"action": "denny"}), ("deny", False)),
        "wrong type": (returning({"approval_timeout": "soon"}), ("deny", False)),
        "a text": (returning("continue"), ("deny", False)),
        "a number": (returning(0), ("deny", False)),
    }
    for name, (handler, expected) in cases.items():
        seen = await action_of(handler)
        print(f"{name}: action {seen[0]}, later handler {'ran' if seen[1] else 'did not run'}")
        assert seen == expected, (name, seen, expected)


asyncio.run(main())
# The threads of the package may outlast the interpreter: end the process without its clean-up.
print(end="", flush=True)
os._exit(0)
PYTHON
venv/bin/python check.py
