#!/usr/bin/env bash
# Guess: `user_message` reaches the user with any action, and a `modify` shows in the action of the
# emission.
# True: the result of an emission is `continue` after a `modify` (only its data tell), and the message
# of a handler that continues or modifies is lost. The message of an injection is lost as soon as
# a second handler injects.
# Version: amplifier-core 2.0.2 of PyPI. Source: `HookRegistry.emit`, run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet amplifier-core==2.0.2
cat >check.py <<'PYTHON'
import asyncio, importlib.metadata, os

from amplifier_core.hooks import HookRegistry, HookResult


async def emit(*results):
    registry = HookRegistry()
    for priority, result in enumerate(results):

        async def handler(event, data, result=result):
            return result

        registry.register("tool:post", handler, priority=priority)
    return await registry.emit("tool:post", {"k": 1})


def injection(message):
    return HookResult(
        action="inject_context", context_injection="lint", user_message=message
    )


async def main():
    print("amplifier-core", importlib.metadata.version("amplifier-core"))
    told = HookResult(user_message="checked 10 files")
    modified = HookResult(action="modify", data={"k": 2}, user_message="changed k")
    for name, results, action, message in [
        ("continue", [told], "continue", None),
        ("modify", [modified], "continue", None),
        ("deny", [HookResult(action="deny", user_message="no")], "deny", "no"),
        ("one injection", [injection("a")], "inject_context", "a"),
        ("two injections", [injection("a"), injection("b")], "inject_context", None),
    ]:
        result = await emit(*results)
        print(f"{name}: action {result.action}, message {result.user_message!r}, data {result.data}")
        assert (result.action, result.user_message) == (action, message), (name, result)
    assert (await emit(modified)).data["k"] == 2


asyncio.run(main())
# The threads of the package may outlast the interpreter: end the process without its clean-up.
print(end="", flush=True)
os._exit(0)
PYTHON
venv/bin/python check.py
