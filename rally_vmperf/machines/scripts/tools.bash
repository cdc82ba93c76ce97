# SPDX-License-Identifier: Apache-2.0
# Print the path, the checksum and the version of each command.
#
# Arguments: COMMAND COUNT VERSION-COMMAND-OF-COUNT-WORDS, repeated.
# Without a version command the version of the package is printed.
# Prints a line "tool COMMAND" and then, if known: path, sha256,
# version, each on a line of its own.  The checksum of a command in a bundle is
# that of its program, which a script in bin runs.
export LC_ALL=C
packaged() {  # name and version of a program's package
    dpkg-query --show -- "$1" || rpm --query --file -- "$2"
} 2>/dev/null
while [ $# -gt 0 ]; do
    echo "tool $1"
    if path=$(type -P -- "$1"); then
        echo "path $path"
        file=$path
        [[ $path != */bundle/bin/* ]] || file=${path%/bin/*}/programs/$1
        read -r sum _ < <(sha256sum -- "$file") && echo "sha256 $sum"
        if [ "$2" -gt 0 ]; then
            while IFS= read -r version && [ -z "$version" ]; do :; done \
                < <(timeout 20 "${@:3:$2}" </dev/null 2>&1)
        else
            version=$(packaged "$1" "$path") || version=
        fi
        echo "version ${version:0:200}"
    fi
    shift $((2 + $2))
done
