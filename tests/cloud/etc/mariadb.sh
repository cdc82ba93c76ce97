#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MariaDB, with new system tables at the first start: mariadb.sh CLOUD
set -e
# The last file that the installation writes.
if [ ! -e "$1/data/mysql/mysql_upgrade_info" ]; then
    find "$1/data/mysql" -mindepth 1 -delete
    mariadb-install-db "--defaults-file=$1/etc/my.cnf" --user=mysql \
        --skip-test-db
fi
exec mariadbd "--defaults-file=$1/etc/my.cnf"
