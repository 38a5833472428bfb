#!/usr/bin/env bash
# Guess: default fields (`set_default_fields`) are part of every emission, and an infrastructure
# timestamp is always present.
# True: an emission without a handler returns the data as they were given: neither the defaults nor
# a timestamp. With one handler, both are there.
# Version: amplifier-core 2.0.2 of PyPI. Source: `HookRegistry.emit`, run below; the Rust source of
# 1.6.0 (crates/amplifier-core/src/hooks.rs) returns before it merges the defaults.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet amplifier-core==2.0.2
cat >check.py <<'PYTHON'
import asyncio, importlib.metadata, os

from amplifier_core.hooks import HookRegistry, HookResult


async def proceed(event, data):
    return HookResult()


async def main():
    print("amplifier-core", importlib.metadata.version("amplifier-core"))
    registry = HookRegistry()
    registry.set_default_fields(session_id="s-1")
    without = await registry.emit("tool:pre", {"tool_name": "write"})
    print("without handlers:", sorted(without.data))
    registry.register("tool:pre", proceed)
    with_handler = await registry.emit("tool:pre", {"tool_name": "write"})
    print("with a handler:", sorted(with_handler.data))
    assert sorted(without.data) == ["tool_name"], without.data
    assert sorted(with_handler.data) == ["session_id", "timestamp", "tool_name"]


asyncio.run(main())
# The threads of the package may outlast the interpreter: end the process without its clean-up.
print(end="", flush=True)
os._exit(0)
PYTHON
venv/bin/python check.py
