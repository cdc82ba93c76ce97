# SPDX-License-Identifier: Apache-2.0
# Measure processor and memory, and tell when.
# usage: evidence.sh SECONDS
set -e
measured() {
    began=$(date +%s.%N)
    "$@"
    echo "measured $began $(date +%s.%N)"
}
measured sysbench cpu --threads=1 "--time=$1" --events=0 \
    --cpu-max-prime=10000 --percentile=95 run
measured mbw -n 10 -t0 64
