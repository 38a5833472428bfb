actual=$(sh tally.sh data/expenses.csv food)
[ "$actual" = "food: 20.40" ] || {
    echo "expected 'food: 20.40', got '$actual'"
    exit 1
}
