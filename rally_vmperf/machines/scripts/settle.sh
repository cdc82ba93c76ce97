# SPDX-License-Identifier: Apache-2.0
# Wait until cloud-init and systemd have finished the boot.
# usage: settle.sh SECONDS [RUN]   RUN is /run, except in tests
# exits with 0 at the end of the boot; after SECONDS with
#   3  if cloud-init is still running
#   4  if systemd is still starting units
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
