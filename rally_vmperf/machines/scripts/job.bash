# A job that outlives the connection that started it.
#
#   start DIR FOLDER TIMEOUT LIMIT ARMED KEEP NPREFIX PREFIX... COMMAND...
#   run SECONDS NSPENT SPENT... START-ARGUMENTS
#                      discard, start and await in one request
#   arm NSPENT SPENT... START-ARGUMENTS
#                      discard and start in one request
#   release DIR TIME SECONDS
#                      let an armed job begin at TIME, seconds since the
#                      epoch, and await it
#   await DIR SECONDS  0: ended, all is printed; 75: still running; 3: lost
#   enough DIR         stop what is repeated, print until when it was
#   cancel DIR         end it and forget it
#   discard DIR        forget it
#
# A job with KEEP=1 goes on once it has ended: the supervisor repeats the
# command, uncounted, so that others which are not done yet still find the
# machine busy, until told enough or for TIMEOUT at most.
#
# Waiting costs nothing: the supervisor holds the FIFO "alive" open for
# writing, and a waiter sleeps in bash's own read until the kernel tells it
# that no writer is left, be the supervisor done or dead.  Programs are started
# sparingly, for each costs an emulated machine dozens of milliseconds: empty
# files, made last, tell that others are complete.
#
# Works in folders of ours only (ours.bash), which no other user can open.

now() {
    now=${EPOCHREALTIME:-$(date +%s.%6N)}
}

start() {
    dir=$1
    ours "$2" || return
    [ -d "$2" ] || mkdir -- "$2" || return
    # A second start follows a lost connection: the first one counts.
    mkdir -- "$dir" || { [ -d "$dir" ]; return; }
    mkfifo -- "$dir"/{alive,gate,begun,ready,enough,kept.alive} \
        "$dir"/{stdout,stderr}.pipe || return
    exec {alive}<>"$dir/alive" {ready}<>"$dir/ready"
    local begin=(supervise)
    # Another shell only where it is to enter a shape first.
    (($7 == 0)) || begin=("${@:8:$7}" bash -c "$BASH_EXECUTION_STRING" \
        job.bash supervise)
    set -m  # a process group of its own: what ends this request ends no job
    "${begin[@]}" "$dir" "${@:2:5}" "${@:8+$7}" \
        {alive}>&- {ready}>&- </dev/null >"$dir/log" 2>&1 &
    set +m
    until read -r -t 1 <&"$ready"; do
        [ -e "/proc/$!" ] || { cat -- "$dir/log" >&2; return 1; }
    done
    exec {alive}>&- {ready}>&-
}

clear() {  # COUNT SPENT...
    local one
    for one in "${@:2:$1}"; do keep_no_more "$one"; done
    (($1 == 0)) || remove "${@:2:$1}"
}

run() {
    local seconds=$1
    clear "${@:2}" || return 1
    start "${@:3+$2}" || return 1
    await "$dir" "$seconds"
}

arm() {
    clear "$@" || return
    start "${@:2+$1}"
}

supervise() {
    dir=$1 timeout=$3 limit=$4 armed=$5 keep=$6
    supervisor=$BASHPID
    cd -- "$2" && exec {alive}<>"$dir/alive" {enough}<>"$dir/enough" \
        {keeping}<>"$dir/kept.alive" || exit
    exec 2>/dev/null
    shift 6
    set -m  # every job below leads a process group of its own
    measure "$@" {alive}>&- {keeping}>&- {enough}>&- &
    job=$!
    echo "$job" >"$dir/job"
    keep stdout {alive}>&- {keeping}>&- &
    keepers=$!
    keep stderr {alive}>&- {keeping}>&- &
    keepers+=" $!"
    watch {alive}>&- {keeping}>&- &
    local watcher=$!
    wait "$job"
    kill -KILL -- "-$job"  # what the command left behind
    if [ "$keep" = 1 ] && [ -e "$dir/timed" ]; then
        keep_up "$@" {alive}>&- {keeping}>&- &
        echo $! >"$dir/keeper"
    fi
    : <>"$dir/stdout.pipe" <>"$dir/stderr.pipe"  # if they were never opened
    wait $keepers
    kill -KILL -- "-$watcher"
    {
        [ ! -e "$dir/timed" ] || echo "$(<"$dir/times")"
        for mark in timed_out too_long cancelled late; do
            [ ! -e "$dir/$mark" ] || echo "$mark=1"
        done
    } >"$dir/status"
    : >"$dir/ended"
    exec {alive}>&-
    [ ! -e "$dir/keeper" ] || end_keeping
}

keep_up() {  # a command that fails keeps nothing up
    local since status=0
    while [ "$status" = 0 ] && [ -e "/proc/$supervisor" ]; do
        now; since=$now
        (exec -- "$@" </dev/null >/dev/null 2>&1 {enough}>&-)
        status=$?
    done
    echo "$since" >&"$enough"
}

end_keeping() {
    local until
    read -r -t "$timeout" until <&"$enough"
    now
    echo "kept=${until:-$now}" >"$dir/kept"
    kill -KILL -- "-$(<"$dir/keeper")"
    wait
}

measure() {
    exec 3>"$dir/stdout.pipe" 4>"$dir/stderr.pipe" {gate}<>"$dir/gate"
    echo >"$dir/ready"
    [ "$armed" = 0 ] || pass_gate || exit
    echo >"$dir/begun"
    local TIMEFORMAT='user=%3U system=%3S' before up started status
    local ended up_ended
    {
        # Uptime cannot be stepped: it tells whether the clock was.
        now; before=$now
        read -r up _ </proc/uptime
        now; started=$now
        # Braces: bash times no subshell that it turns into the command.
        time { (exec -- "$@" </dev/null >&3 2>&4 3>&- 4>&- {gate}>&-); }
        status=$?
        now; ended=$now
        read -r up_ended _ </proc/uptime
        now
    } 2>"$dir/times"
    echo "exit=$status started=$started ended=$ended before=$before" \
        "after=$now up=$up up_ended=$up_ended" >>"$dir/times"
    : >"$dir/timed"
}

pass_gate() {  # the line that says when may come more than once
    local at pause
    wait_for gate at || return
    while now; ((pause = 10#${at/./} - 10#${now/./})); ((pause > 0)); do
        printf -v pause '%d.%06d' $((pause / 1000000)) $((pause % 1000000))
        read -r -t "$pause" <&"$gate"
    done
    ((pause > -10000000)) || { : >"$dir/late"; return 1; }
}

keep() {  # as much as is wanted of a stream; a program that goes on is ended
    {
        head -c "$limit"
        if IFS= read -r -d '' -n 1; then
            : >"$dir/too_long"
            kill -KILL -- "-$job"
        fi
    } <"$dir/$1.pipe" >"$dir/$1"
}

wait_for() {  # FIFO VARIABLE: while armed; in vain nobody stays for long
    local round
    for ((round = 0; round < 120; round++)); do
        read -r -t 5 "$2" <&"${!1}" && return
        [ -d "$dir" ] && [ -e "/proc/$supervisor" ] || return
    done
    return 1
}

watch() {  # the time, by bash alone: no process is started meanwhile
    local at
    exec {begun}<>"$dir/begun"
    wait_for begun at || exit
    read -r -t "$timeout" <&"$begun"
    [ -e "$dir/timed" ] || : >"$dir/timed_out"
    kill -TERM -- "-$job"
    read -r -t 2 <&"$begun"
    kill -KILL -- "-$job"
    local keeper
    for keeper in $keepers; do kill -KILL -- "-$keeper"; done
}

listen() {  # until the supervisor lets go of FIFO $1, for $2 seconds at most
    exec 8<>"$dir/$1" 9<"$dir/$1" 8>&-
    [ -e "$dir/$3" ] || read -r -t "$2" <&9
}

await() {
    dir=$1
    [ -d "$dir" ] || exit 3
    listen alive "$2" ended
    local heard=$?
    if [ -e "$dir/ended" ]; then
        echo "$(<"$dir/status")"
        echo
        [ ! -s "$dir/stdout" ] || cat -- "$dir/stdout"
        [ ! -s "$dir/stderr" ] || cat -- "$dir/stderr" >&2
    else
        ((heard > 128)) && exit 75
        exit 3
    fi
}

release() {
    # Opened for reading as well: without a supervisor nothing blocks.
    [ ! -d "$1" ] || echo "$2" 1<>"$1/gate"
    await "$1" "$3"
}

keep_no_more() {
    dir=$1
    [ -e "$dir/keeper" ] || return 0
    echo 1<>"$dir/enough"
    listen kept.alive 10 gone
    # A supervisor that was killed ends nothing.
    [ -e "$dir/kept" ] || kill -KILL -- "-$(<"$dir/keeper")"
}

enough() {
    keep_no_more "$1"
    [ -e "$1/kept" ] || exit 3
    echo "$(<"$1/kept")"
}

cancel() {
    dir=$1
    if [ -e "$dir/job" ] && [ ! -e "$dir/ended" ]; then
        : >"$dir/cancelled"
        local job=$(<"$dir/job")
        kill -TERM -- "-$job"
        listen alive 2 ended
        [ -e "$dir/ended" ] || {
            kill -KILL -- "-$job"; listen alive 5 ended
        }
    fi
    discard "$dir"
}

discard() {
    clear 1 "$1"
}

"$@"
