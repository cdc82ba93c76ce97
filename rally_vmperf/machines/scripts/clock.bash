# Answers each line with the time, in seconds since the epoch; no process is
# started for it where bash is 5 or later.
export LC_ALL=C
while IFS= read -r; do
    echo "${EPOCHREALTIME:-$(date +%s.%6N)}"
done
