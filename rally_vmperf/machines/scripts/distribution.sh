# Say which distribution this is, and what it installs packages with.
for manager in apt-get zypper dnf microdnf yum ''; do
    [ -n "$manager" ] || break
    command -v "$manager" >/dev/null && break
done
(
    [ ! -r /etc/os-release ] || . /etc/os-release
    printf 'manager=%s\nid=%s\nversion_id=%s\ncodename=%s\n' \
        "$manager" "${ID:-}" "${VERSION_ID:-}" "${VERSION_CODENAME:-}"
)
printf 'architecture='
dpkg --print-architecture 2>/dev/null || uname -m
