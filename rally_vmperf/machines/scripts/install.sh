# SPDX-License-Identifier: Apache-2.0
# Install packages of the distribution from its mirrors.
#
# usage: install.sh MANAGER PROXY PACKAGE...   PROXY may be empty; if it is
# "-", its URL is the first line of the input, because it has a password.
set -eu
umask 022  # all users can run the programs
manager=$1 proxy=$2
shift 2
file=
if [ "$proxy" = - ]; then
    IFS= read -r proxy
    # Other users cannot read it.  TMPDIR may have spaces, which divide options.
    file=$(mktemp /tmp/tmp.XXXXXXXXXX)
    trap 'rm -f -- "$file"' EXIT
    trap 'exit 1' HUP INT TERM
fi
# Waits for the lock of the package manager.  If a mirror does not answer, an
# error is better than a long wait.
export LC_ALL=C DEBIAN_FRONTEND=noninteractive ZYPP_LOCK_TIMEOUT=300
if [ -n "$proxy" ]; then
    export http_proxy="$proxy" https_proxy="$proxy"
    unset no_proxy NO_PROXY
fi
case $manager in
apt-get)
    options="-q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0"
    options="$options -o Acquire::Retries=1 -o Acquire::http::Timeout=30"
    if [ -n "$file" ]; then
        printf 'Acquire::%s::Proxy "%s";\n' http "$proxy" https "$proxy" >"$file"
        options="$options -c $file"  # read after the machine's own
    elif [ -n "$proxy" ]; then
        options="$options -o Acquire::http::Proxy=$proxy"
        options="$options -o Acquire::https::Proxy=$proxy"
    fi
    # One mirror of several may fail: the installation reports missing packages.
    apt-get $options update >/dev/null || true
    apt-get $options install -y --no-install-recommends -- "$@" >/dev/null
    ;;
dnf | yum)
    options="-y --setopt=timeout=30 --setopt=retries=1"
    [ "$manager" = yum ] ||
        options="$options --setopt=install_weak_deps=False"
    if [ -n "$file" ]; then
        conf=/etc/dnf/dnf.conf
        [ -e "$conf" ] || conf=/etc/yum.conf
        printf '[main]\nproxy=%s\n' "$proxy" >"$file"
        sed '/^\[main\]/d; /^ *proxy/d' "$conf" >>"$file" || true
        options="$options -c $file"
    elif [ -n "$proxy" ]; then
        options="$options --setopt=proxy=$proxy"
    fi
    "$manager" $options install "$@" >/dev/null
    ;;
microdnf)
    microdnf install -y "$@" >/dev/null
    ;;
zypper)
    # It prints some of its errors on standard output.
    zypper --non-interactive --quiet install --no-recommends "$@" >&2
    ;;
*)
    echo "no way to install packages with '$manager'" >&2
    exit 1
    ;;
esac
