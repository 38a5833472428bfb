# Prints one line of the result.
print_total() {
    printf '%s: %s\n' "$1" "$2"
}
