# SPDX-License-Identifier: Apache-2.0
# Run a command again and again until the file "stop" exists.
#
#   control.bash COMMAND...
#
# Print for each run that ended before: a line "run STATUS START END", its times
# in seconds since the epoch, and its output.
rm -f stop
while :; do
    begun=$EPOCHREALTIME
    "$@" >control.out
    status=$?
    ended=$EPOCHREALTIME
    [ ! -e stop ] || break
    printf 'run %d %s %s\n' "$status" "${begun/,/.}" "${ended/,/.}"
    cat control.out
    ((status == 0)) || sleep 1
done
rm -f stop control.out
