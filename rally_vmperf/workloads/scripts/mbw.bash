# SPDX-License-Identifier: Apache-2.0
# Print the first line of the help of mbw, and run mbw.
#
# Arguments: those of mbw, after -k and how many of it run at the same time.
# Only 1.4 and later print their version.  Older ones run without mcblock (-t2),
# of which they copy the first block only.
says=$(mbw -h | head -n 1)
printf 'says: %s\n' "$says"
if [[ $says != "mbw memory benchmark v"* ]]; then
    for argument; do
        shift
        [ "$argument" = -t2 ] || set -- "$@" "$argument"
    done
fi
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
