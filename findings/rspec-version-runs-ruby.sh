#!/usr/bin/env bash
# Guess: `.rspec` is a list of options, so `rspec --version` runs no code of the project.
# True: `.rspec` is a template of ERB. RSpec reads it before it looks at its words, so `--version` runs the
# Ruby code in `<% … %>`.
# Version: RSpec 3.12.0 of Debian 12. Source: run below; rspec/core/configuration_options.rb,
# `options_file_as_erb_string`.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack ruby-rspec-core=3.12.0c0e1m1s0-1 ruby-rspec-support=3.12.0c0e1m1s0-1
gems=$folder/unpacked/usr/share/rubygems-integration/all/gems
mkdir project
cd project
echo '<% File.write("marker", "code of .rspec") %>' >.rspec
HOME=$folder ruby -I "$gems/rspec-core-3.12.0/lib" -I "$gems/rspec-support-3.12.0/lib" \
    "$gems/rspec-core-3.12.0/exe/rspec" --version
echo "marker: $(cat marker)"
test "$(cat marker)" = 'code of .rspec'
