# Install packages of the distribution, given as arguments.
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
options="-q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0"
# Where mirrors are silent, better a clear answer than a long wait.
options="$options -o Acquire::Retries=1 -o Acquire::http::Timeout=30"
apt-get $options update >/dev/null
apt-get $options install -y --no-install-recommends -- "$@" >/dev/null
