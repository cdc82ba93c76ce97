# Print the first line of the help of mbw, and run mbw.
#
# Arguments: those of mbw, after -k and how many of it run at the same time.
# Only 1.4 and later print their version.
printf 'says: %s\n' "$(mbw -h | head -n 1)"
[ "$1" = -k ] || exec mbw "$@"
count=$2
shift 2
for ((one = 1; one <= count; one++)); do
    mbw "$@" >"mbw.$one" &
    running+=("$!")
done
for process in "${running[@]}"; do
    wait "$process" || failed=$?
done
for ((one = 1; one <= count; one++)); do
    printf 'process %d\n' "$one"
    cat "mbw.$one"
    rm "mbw.$one"
done
exit "${failed:-0}"
