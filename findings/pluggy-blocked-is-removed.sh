#!/usr/bin/env bash
# Guess: `PluginManager.set_blocked(name)` of pluggy switches a plugin off, and `unblock(name)`
# switches it on again.
# True: it removes the plugin. While the name is blocked, `register` returns None without an error,
# also for a name that was never registered. `unblock` brings nothing back, and a plugin that is
# registered anew has another place in the order.
# Version: pluggy 1.7.0 of PyPI. Source: run below; `PluginManager.set_blocked`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet pluggy==1.7.0
cat >check.py <<'PYTHON'
import pluggy

spec, impl = pluggy.HookspecMarker("kitchen"), pluggy.HookimplMarker("kitchen")


class Spec:
    @spec
    def ingredients(self): ...


class Plugin:
    def __init__(self, name):
        self.name = name

    @impl
    def ingredients(self):
        return self.name


def show(text, seen, expected):
    print(f"{text}: {seen}")
    assert seen == expected, (text, seen, expected)


print("pluggy", pluggy.__version__)
pm = pluggy.PluginManager("kitchen")
pm.add_hookspecs(Spec)
salt, sugar = Plugin("salt"), Plugin("sugar")
pm.register(salt, name="salt")
pm.register(sugar, name="sugar")
show("before", pm.hook.ingredients(), ["sugar", "salt"])
pm.set_blocked("salt")
show("blocked", pm.hook.ingredients(), ["sugar"])
show("plugin under the name", pm.get_plugin("salt"), None)
show("register while blocked", pm.register(salt, name="salt"), None)
pm.unblock("salt")
show("unblocked", pm.hook.ingredients(), ["sugar"])
pm.register(salt, name="salt")
show("registered anew", pm.hook.ingredients(), ["salt", "sugar"])
pm.set_blocked("pepper")
show("register another blocked name", pm.register(Plugin("pepper"), name="pepper"), None)
PYTHON
venv/bin/python check.py
