#!/bin/sh
# Sums the amounts of an expense list: tally.sh FILE [CATEGORY]
set -eu
. "$(dirname "$0")/lib/format.sh"

file=$1
category=${2:-}
total=$(awk -F, -v category="$category" '
    NR > 2 && (category == "" || $2 == category) { total += $3 }
    END { printf "%.2f", total }
' "$file")
print_total "${category:-all}" "$total"
