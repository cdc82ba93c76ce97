# Wait until a machine has done all that it does after its start.
# usage: settle.sh SECONDS [RUN]   RUN is /run, but for tests
# exits with 0 when it has, after SECONDS with
#   3  cloud-init still works
#   4  systemd still starts units
run=${2:-/run}

uptime() {
    cut -d. -f1 /proc/uptime
}

configuring() {
    [ -d "$run/cloud-init" ] && [ ! -e "$run/cloud-init/disabled" ] &&
        [ ! -e "$run/cloud-init/result.json" ]
}

starting() {
    [ -d "$run/systemd/system" ] || return 1
    case $(systemctl is-system-running 2>/dev/null) in
    initializing | starting) return 0 ;;
    *) return 1 ;;
    esac
}

end=$(($(uptime) + $1))
for what in configuring starting; do
    while $what; do
        if [ "$(uptime)" -ge "$end" ]; then
            [ "$what" = configuring ] && exit 3
            exit 4
        fi
        sleep 0.5
    done
done
