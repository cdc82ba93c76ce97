# Unpack a bundle of tools, which comes on standard input.
#
#   unpack.sh FOLDER    print FOLDER/bundle/bin, where its programs are
set -eu
umask 077
mkdir -- "$1/bundle"
tar -xzf - --no-same-owner -C "$1/bundle"
echo "$1/bundle/bin"
