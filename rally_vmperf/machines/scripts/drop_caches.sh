# SPDX-License-Identifier: Apache-2.0
# Write what is dirty to disk; then drop page cache, dentries and inodes.
# usage: drop_caches.sh [FILE]   FILE is the kernel's, but for tests
sync && echo 3 >"${1:-/proc/sys/vm/drop_caches}"
