# A job that outlives the connection that started it.
#
#   start DIR FOLDER TIMEOUT LIMIT ARMED NPREFIX PREFIX... COMMAND...
#   run SECONDS NSPENT SPENT... START-ARGUMENTS
#                      discard, start and await in one request
#   release DIR TIME   let an armed job begin at TIME, seconds since the epoch
#   await DIR SECONDS  0: ended, all is printed; 75: still running; 3: lost
#   cancel DIR         end it
#   discard DIR        forget it
#
# Waiting costs nothing: the supervisor holds the FIFO "alive" open for
# writing, and a waiter sleeps in bash's own read until the kernel tells it
# that no writer is left, be the supervisor done or dead.  Programs are started
# sparingly, for each costs an emulated machine dozens of milliseconds: empty
# files, made last, tell that others are complete.
export LC_ALL=C

now() {
    now=${EPOCHREALTIME:-$(date +%s.%6N)}
}

start() {
    dir=$1
    [[ $dir = /* ]] || dir=$PWD/$dir
    [ -d "$2" ] || mkdir -p -- "$2" || return
    # A second start follows a lost connection: the first one counts.
    mkdir -- "$dir" || { [ -d "$dir" ]; return; }
    mkfifo -- "$dir"/{alive,gate,begun,ready,stdout.pipe,stderr.pipe} || return
    exec {alive}<>"$dir/alive" {ready}<>"$dir/ready"
    local prefix=("${@:7:$6}")
    setsid "${prefix[@]}" bash -c "$BASH_EXECUTION_STRING" job.bash \
        supervise "$dir" "${@:2:4}" "${@:7+$6}" \
        {alive}>&- {ready}>&- </dev/null >"$dir/log" 2>&1 &
    until read -r -t 1 <&"$ready"; do
        [ -e "/proc/$!" ] || { cat -- "$dir/log" >&2; return 1; }
    done
    exec {alive}>&- {ready}>&-
}

run() {
    local seconds=$1 spent=("${@:3:$2}")
    shift $((2 + $2))
    ((${#spent[@]} == 0)) || rm -rf -- "${spent[@]}"
    start "$@" || return 1
    await "$dir" "$seconds"
}

supervise() {
    dir=$1 timeout=$3 limit=$4 armed=$5
    cd -- "$2" && exec {alive}<>"$dir/alive" || exit
    exec 2>/dev/null
    shift 5
    set -m  # every job below leads a process group of its own
    measure "$@" {alive}>&- &
    job=$!
    echo "$job" >"$dir/job"
    keep stdout {alive}>&- &
    keepers=$!
    keep stderr {alive}>&- &
    keepers+=" $!"
    watch {alive}>&- &
    local watcher=$!
    wait "$job"
    kill -KILL -- "-$job"  # what the command left behind
    : <>"$dir/stdout.pipe" <>"$dir/stderr.pipe"  # if they were never opened
    wait $keepers
    kill -KILL -- "-$watcher"
    {
        [ ! -e "$dir/timed" ] || echo "$(<"$dir/times")"
        for mark in timed_out too_long cancelled; do
            [ ! -e "$dir/$mark" ] || echo "$mark=1"
        done
    } >"$dir/status"
    : >"$dir/ended"
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

pass_gate() {
    local at pause
    read -r -t 3600 at <&"$gate" || return
    now
    ((pause = 10#${at/./} - 10#${now/./}))
    ((pause > 0)) || return 0
    printf -v pause '%d.%06d' $((pause / 1000000)) $((pause % 1000000))
    read -r -t "$pause" <&"$gate"
    return 0
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

watch() {  # the time, by bash alone: no process is started meanwhile
    exec {begun}<>"$dir/begun"
    read -r <&"$begun"
    read -r -t "$timeout" <&"$begun"
    [ -e "$dir/timed" ] || : >"$dir/timed_out"
    kill -TERM -- "-$job"
    read -r -t 2 <&"$begun"
    kill -KILL -- "-$job"
    local keeper
    for keeper in $keepers; do kill -KILL -- "-$keeper"; done
}

listen() {  # until the supervisor is gone, for at most $1 seconds
    exec 8<>"$dir/alive" 9<"$dir/alive" 8>&-
    [ -e "$dir/ended" ] || read -r -t "$1" <&9
}

await() {
    dir=$1
    [ -d "$dir" ] || exit 3
    listen "$2"
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

cancel() {
    dir=$1
    [ -e "$dir/job" ] && [ ! -e "$dir/ended" ] || exit 0
    : >"$dir/cancelled"
    local job=$(<"$dir/job")
    kill -TERM -- "-$job"
    listen 2
    [ -e "$dir/ended" ] || { kill -KILL -- "-$job"; listen 5; }
    exit 0
}

release() {
    echo "$2" >"$1/gate"
}

discard() {
    rm -rf -- "$1"
}

"$@"
