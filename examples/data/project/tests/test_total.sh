actual=$(sh tally.sh data/expenses.csv)
[ "$actual" = "all: 61.40" ] || {
    echo "expected 'all: 61.40', got '$actual'"
    exit 1
}
