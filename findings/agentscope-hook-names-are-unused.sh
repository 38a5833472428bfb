#!/usr/bin/env bash
# Guess: agentscope runs hooks `pre_reply` and `post_reply`: it exports their names in the types
# `AgentHookTypes` and `ReActAgentHookTypes`.
# True: since 2.0, nothing registers or runs them. An agent takes `middlewares`, whose methods are
# `on_reply`, `on_acting` and others; the first in the list is the outermost. A method `pre_reply`
# of a middleware is never called.
# Version: agentscope 2.0.11 of PyPI. Source: run below; agentscope/types/_hook.py and
# agentscope/middleware/_base.py.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet agentscope==2.0.11
cat >check.py <<'PYTHON'
import asyncio, pathlib

import agentscope
from agentscope.agent import Agent
from agentscope.message import Msg, TextBlock
from agentscope.middleware import MiddlewareBase
from agentscope.types import AgentHookTypes, ReActAgentHookTypes

calls = []


def message(text):
    return Msg(name="n", role="user", content=[TextBlock(type="text", text=text)])


class Recorder(MiddlewareBase):
    def __init__(self, name, is_last=False):
        self.name, self.is_last = name, is_last

    async def pre_reply(self, *args, **kwargs):
        calls.append(f"{self.name} pre_reply")

    async def post_reply(self, *args, **kwargs):
        calls.append(f"{self.name} post_reply")

    async def on_reply(self, agent, input_kwargs, next_handler):
        calls.append(f"{self.name} on_reply")
        if self.is_last:
            yield message("no model was called")
            return
        async for item in next_handler():
            yield item


class Model:
    context_size = 1000


async def main():
    print("agentscope", agentscope.__version__)
    assert "pre_reply" in str(AgentHookTypes) and "pre_acting" in str(ReActAgentHookTypes)
    package = pathlib.Path(agentscope.__file__).parent
    users = [
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if "pre_reply" in file.read_text() or "AgentHookTypes" in file.read_text()
    ]
    print("files with the names:", sorted(users))
    assert all(user.startswith("types/") for user in users), users
    assert not [name for name in dir(Agent) if "hook" in name and not name.startswith("__")]
    middlewares = [Recorder("first"), Recorder("second", is_last=True)]
    agent = Agent("agent", "prompt", Model(), middlewares=middlewares)
    await agent.reply(message("hello"))
    print("calls:", calls)
    assert calls == ["first on_reply", "second on_reply"], calls


asyncio.run(main())
PYTHON
venv/bin/python check.py
