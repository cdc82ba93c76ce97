#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run a program of a bundle with the C library and libraries of the bundle.
here=${0%/*}/..
name=${0##*/}
exec "$here/lib/ld.so" --argv0 "$name" --library-path "$here/lib" \
    "$here/programs/$name" "$@"
