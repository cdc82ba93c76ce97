# Install packages from a folder of this machine, without a network.
#
#   wanted FOLDER MANAGER PACKAGE...   name the files that have to come
#   install FOLDER MANAGER PACKAGE...  verify the files that came, install
#
# FOLDER is one that folder.bash made.
# FOLDER/SHA256SUMS has the sum and the name of every file that there is.
set -eu
umask 022  # apt reads as a user of its own, and everybody what is installed
export LC_ALL=C DEBIAN_FRONTEND=noninteractive ZYPP_LOCK_TIMEOUT=300

apt() {  # as apt-get, but that it knows nothing but the folder
    apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
        -o Dir::Etc::sourcelist="$folder/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null \
        -o Dir::State::lists="$folder/lists" \
        -o Dir::Cache::archives="$folder/archives" \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"
}

wanted() {
    folder=$1 manager=$2
    shift 2
    if [ "$manager" = apt-get ]; then
        mkdir -p "$folder/lists/partial" "$folder/archives/partial"
        echo "deb [trusted=yes] file:$folder ./" >"$folder/sources.list"
        apt update >/dev/null
        apt -qq -y --no-install-recommends --print-uris install -- "$@" \
            >"$folder/wanted"
        sed -n "s|^'file:[^']*/\([0-9a-f]*\.deb\)' .*|\1|p" "$folder/wanted"
    else
        rpm -qa --queryformat '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm\n' \
            >"$folder/installed"
        sed -n 's/^[0-9a-f]*  \(.*\.rpm\)$/\1/p' "$folder/SHA256SUMS" |
            grep -vxF -f "$folder/installed" || true
    fi
}

install() {
    folder=$1 manager=$2
    shift 2
    (cd "$folder" && sha256sum --check --quiet --ignore-missing SHA256SUMS) >&2
    case $manager in
    apt-get)
        apt -y --no-install-recommends install -- "$@" >/dev/null
        ;;
    dnf)
        dnf -y --setopt=install_weak_deps=False \
            --setopt=cachedir="$folder/cache" \
            --repofrompath=vmperf-tools,"file://$folder" \
            --repo=vmperf-tools --setopt=vmperf-tools.gpgcheck=0 \
            --setopt=vmperf-tools.module_hotfixes=1 install "$@" >/dev/null
        ;;
    zypper)
        zypper --non-interactive --quiet --no-gpg-checks --no-remote \
            --plus-repo "dir:$folder" install --no-recommends "$@" >&2
        ;;
    *)
        echo "no way to install a folder of packages with '$manager'" >&2
        exit 1
        ;;
    esac
}

"$@"
