# SPDX-License-Identifier: Apache-2.0
# Unpack a bundle of tools from standard input.
#
#   unpack.sh DIRECTORY    print DIRECTORY/bundle/bin, which has the programs
set -eu
umask 077
mkdir -- "$1/bundle"
tar -xzf - --no-same-owner -C "$1/bundle"
echo "$1/bundle/bin"
