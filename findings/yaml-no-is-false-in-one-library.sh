#!/usr/bin/env bash
# Guess: libraries for YAML agree on plain scalars; where YAML 1.1 and 1.2 differ, a library follows one.
# True: PyYAML reads `no`, `012` and `1:30` as false, ten and ninety (1.1); ruamel.yaml, js-yaml and yaml of npm
# read a text, twelve and a text (1.2). But `1_000` is a number and `2026-01-02` a date (1.1) also for
# ruamel.yaml and js-yaml; both are texts (1.2) for yaml only.
# Version: PyYAML 6.0.3 and ruamel.yaml 0.18.16 of PyPI, js-yaml 4.1.1 and yaml 2.8.1 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund js-yaml@4.1.1 yaml@2.8.1
python3 -m venv venv
venv/bin/pip install --quiet PyYAML==6.0.3 ruamel.yaml==0.18.16
venv/bin/pip list 2>/dev/null | grep -i yaml
for name in js-yaml yaml; do
    echo "$name $(node -p "require('$name/package.json').version")"
done
echo '[no, 012, 1:30, 1_000, 2026-01-02]' >a.yml
cat >names.py <<'PYTHON'
def show(values):
    names = {bool: "bool", int: "number", str: "text"}
    print(*(f"{names.get(type(v), 'date')}:{v}" for v in values))
PYTHON
cat >names.cjs <<'JS'
exports.text = require('fs').readFileSync('a.yml', 'utf8')
exports.show = (values) => console.log(values.map((v) =>
  v instanceof Date ? 'date:' + v.toISOString().slice(0, 10) : (typeof v).replace('string', 'text') + ':' + v).join(' '))
JS

# check EXPECTED NAME PROGRAM…
check() {
    local seen
    seen=$("${@:3}")
    printf '%-12s %s\n' "$2" "$seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check 'bool:False number:10 number:90 number:1000 date:2026-01-02' PyYAML \
    venv/bin/python -c 'import names, yaml; names.show(yaml.safe_load(open("a.yml")))'
check 'text:no number:12 text:1:30 number:1000 date:2026-01-02' ruamel.yaml \
    venv/bin/python -c 'import names, ruamel.yaml; names.show(ruamel.yaml.YAML(typ="safe", pure=True).load(open("a.yml")))'
check 'text:no number:12 text:1:30 number:1000 date:2026-01-02' js-yaml \
    node -e 'const n = require("./names.cjs"); n.show(require("js-yaml").load(n.text))'
check 'text:no number:12 text:1:30 text:1_000 text:2026-01-02' yaml \
    node -e 'const n = require("./names.cjs"); n.show(require("yaml").parse(n.text))'
