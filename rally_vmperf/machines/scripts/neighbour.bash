# SPDX-License-Identifier: Apache-2.0
# Run commands one after the other, again and again, until one of them fails.
#
#   neighbour.bash COUNT WORD... [COUNT WORD...]
#
# COUNT is the number of words of the command that follows it.

words=("$@")
while :; do
    for ((at = 0; at < ${#words[@]}; at += 1 + count)); do
        count=${words[at]}
        said=$("${words[@]:at+1:count}" 2>&1 >/dev/null) || {
            echo "${words[at + 1]} ended with $?: ${said##*$'\n'}" >&2
            exit 1
        }
    done
done
