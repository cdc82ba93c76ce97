# SPDX-License-Identifier: Apache-2.0
# A job: a command that outlives the connection that started it.
#
#   start JOBS JOB            discard earlier jobs, start this one
#   run SECONDS JOBS JOB      start and await in one request
#   await DIR SECONDS         0: ended, all is printed; 75: runs; 3: lost
#   release DIR TIME SECONDS  begin an armed job at TIME, and await it
#   end_load DIR              end a load, print until when it was kept up
#   cancel DIR                end the job and discard it
#   discard DIR...            end the load and remove the jobs' directories
#
# JOBS is COUNT DIR...
# JOB is: DIR WORKDIR TIMEOUT LIMIT ARMED KEEP_UP NPREFIX PREFIX... COMMAND...
#
# doc/source/contributor/supervisor.rst describes the protocol and the files.
# Three rules explain unusual code below:
# * A program that is started costs an emulated machine dozens of
#   milliseconds: bash itself reads, waits, and makes files as marks.
# * A FIFO opened with <> does not block; a read of one that is open for
#   reading only ends when its last writer has ended.
# * All directories are private (ours.bash): other users cannot open them.

### The request that starts a job

start() {
    discard "${@:2:$1}" || return
    shift $((1 + $1))
    local dir=$1 workdir=$2
    ours "$workdir" || return
    # Another command may create it at the same time.
    [ -d "$workdir" ] || mkdir -- "$workdir" || [ -d "$workdir" ] || return
    # A second start follows a lost connection: the first one counts.
    mkdir -- "$dir" || { [ -d "$dir" ]; return; }
    mkfifo -- "$dir"/{alive,begun,end_load,gate,load.alive,ready} \
        "$dir"/{stdout,stderr}.pipe || return
    # A request that awaits the job before its supervisor runs must not report
    # it as lost.
    exec {alive}<>"$dir/alive" {ready}<>"$dir/ready"
    local begin=(supervise)
    # Another shell only if it enters control groups first.
    (($7 == 0)) || begin=("${@:8:$7}" bash -c "$BASH_EXECUTION_STRING" \
        job.bash supervise)
    set -m  # a process group of its own: what ends this request ends no job
    "${begin[@]}" "${@:1:6}" "${@:8+$7}" \
        {alive}>&- {ready}>&- </dev/null >"$dir/log" 2>&1 &
    set +m
    until read -r -t 1 <&"$ready"; do
        [ -e "/proc/$!" ] || { cat -- "$dir/log" >&2; return 1; }
    done
    exec {alive}>&- {ready}>&-
}

run() {
    start "${@:2}" || return 1
    await "${@:3+$2:1}" "$1"
}

### The supervisor: one process for each job, until its load has ended

supervise() {  # DIR WORKDIR TIMEOUT LIMIT ARMED KEEP_UP COMMAND...
    dir=$1 timeout=$3 limit=$4 armed=$5 keep_up=$6 supervisor=$BASHPID
    cd -- "$2" && exec {alive}<>"$dir/alive" {load_alive}<>"$dir/load.alive" \
        {end_load}<>"$dir/end_load" || exit
    exec 2>/dev/null
    set -m  # each child leads a process group of its own
    child measure "${@:7}"
    job=$!
    echo "$job" >"$dir/job"
    child capture stdout; captures=$!
    child capture stderr; captures+=" $!"
    child limit_time
    local timer=$!
    wait "$job"
    kill -KILL -- "-$job"  # what the command left behind
    if [ "$keep_up" = 1 ] && [ -e "$dir/measured" ]; then
        child keep_up_load "${@:7}"
        echo $! >"$dir/load"
    fi
    : <>"$dir/stdout.pipe" <>"$dir/stderr.pipe"  # if they were never opened
    wait $captures
    kill -KILL -- "-$timer"
    {
        [ ! -e "$dir/measured" ] || echo "$(<"$dir/account")"
        local mark
        for mark in timed_out too_long cancelled late unkept; do
            [ ! -e "$dir/$mark" ] || echo "$mark=1"
        done
    } >"$dir/status"
    : >"$dir/ended"  # made last: the other files are complete
    exec {alive}>&-
    [ ! -e "$dir/load" ] || await_end_of_load
}

child() {  # does not keep the FIFOs open that tell of the supervisor's end
    "$@" {alive}>&- {load_alive}>&- {end_load}>&- &
}

measure() {  # COMMAND...
    exec 3>"$dir/stdout.pipe" 4>"$dir/stderr.pipe" {gate}<>"$dir/gate"
    echo >"$dir/ready"
    [ "$armed" = 0 ] || await_release || exit
    echo >"$dir/begun"
    local TIMEFORMAT='user=%3U system=%3S' before up started status
    local ended up_ended
    {
        # Uptime cannot be stepped: it shows whether the clock was.
        now; before=$now
        read -r up _ </proc/uptime
        now; started=$now
        # Braces: bash times no subshell that it turns into the command.
        time { (exec -- "$@" </dev/null >&3 2>&4 3>&- 4>&- {gate}>&-); }
        status=$?
        now; ended=$now
        read -r up_ended _ </proc/uptime
        now
    } 2>"$dir/account"
    echo "exit=$status started=$started ended=$ended before=$before" \
        "after=$now up=$up up_ended=$up_ended" >>"$dir/account"
    : >"$dir/measured"
}

await_release() {  # a repeated request writes the time again and wakes us
    local at pause
    wait_for "$gate" at || return
    while now; ((pause = 10#${at/./} - 10#${now/./})); ((pause > 0)); do
        printf -v pause '%d.%06d' $((pause / 1000000)) $((pause % 1000000))
        read -r -t "$pause" <&"$gate"
    done
    ((pause > -10000000)) || { : >"$dir/late"; return 1; }
}

capture() {  # STREAM: up to the limit; a program that goes on is ended
    {
        head -c "$limit" || : >"$dir/unkept"
        if IFS= read -r -d '' -n 1; then
            : >"$dir/too_long"
            kill -KILL -- "-$job"
        fi
    } <"$dir/$1.pipe" >"$dir/$1"
}

limit_time() {  # nothing more is written to "begun": its read is a sleep
    local one
    exec {begun}<>"$dir/begun"
    wait_for "$begun" one || exit
    read -r -t "$timeout" <&"$begun"
    # A measured command has ended; what it started may hold its output open.
    [ -e "$dir/measured" ] || : >"$dir/timed_out"
    kill -TERM -- "-$job"
    read -r -t 2 <&"$begun"
    kill -KILL -- "-$job"
    for one in $captures; do kill -KILL -- "-$one"; done
}

wait_for() {  # DESCRIPTOR VARIABLE: ten minutes, or until it has no writer
    local round
    for ((round = 0; round < 120; round++)); do
        read -r -t 5 "$2" <&"$1" && return
        [ -d "$dir" ] && [ -e "/proc/$supervisor" ] || return
    done
    return 1
}

now() {
    now=${EPOCHREALTIME:-$(date +%s.%6N)}
}

### The load that continues, unmeasured, while other machines measure

keep_up_load() {  # COMMAND...: one that fails is not repeated
    local since status=0
    while [ "$status" = 0 ] && [ -e "/proc/$supervisor" ]; do
        now; since=$now
        (exec -- "$@" </dev/null >/dev/null 2>&1)
        status=$?
    done
    echo "$since" 1<>"$dir/end_load"
}

await_end_of_load() {  # a load that failed reports its end
    local until
    read -r -t "$timeout" until <&"$end_load"
    now
    echo "kept_up_until=${until:-$now}" >"$dir/load.ended"
    kill -KILL -- "-$(<"$dir/load")"
    wait
}

### The requests that follow

await() {  # DIR SECONDS
    [ -d "$1" ] || exit 3
    listen "$1/alive" "$2"
    local heard=$?
    if [ -e "$1/ended" ]; then
        echo "$(<"$1/status")"
        echo
        [ ! -s "$1/stdout" ] || cat -- "$1/stdout" || exit 3
        [ ! -s "$1/stderr" ] || cat -- "$1/stderr" >&2 || exit 3
    else
        ((heard > 128)) && exit 75
        exit 3
    fi
}

listen() {  # FIFO SECONDS: until its last writer has gone; above 128: in vain
    exec 8<>"$1" 9<"$1" 8>&-
    read -r -t "$2" <&9
}

release() {  # DIR TIME SECONDS
    [ ! -d "$1" ] || echo "$2" 1<>"$1/gate"
    await "$1" "$3"
}

end_load() {  # DIR
    stop_load "$1"
    [ -e "$1/load.ended" ] || exit 3
    echo "$(<"$1/load.ended")"
}

stop_load() {  # DIR
    [ -e "$1/load" ] || return 0
    echo 1<>"$1/end_load"
    listen "$1/load.alive" 10
    # A supervisor that was killed ends nothing.
    [ -e "$1/load.ended" ] || kill -KILL -- "-$(<"$1/load")"
}

cancel() {  # DIR
    local job
    if [ -e "$1/job" ] && [ ! -e "$1/ended" ]; then
        : >"$1/cancelled"
        job=$(<"$1/job")
        kill -TERM -- "-$job"
        listen "$1/alive" 2
        [ -e "$1/ended" ] || { kill -KILL -- "-$job"; listen "$1/alive" 5; }
    fi
    discard "$1"
}

discard() {  # DIR...
    local one
    for one; do stop_load "$one"; done
    (($# == 0)) || remove "$@"
}

"$@"
