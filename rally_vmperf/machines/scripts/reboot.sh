# SPDX-License-Identifier: Apache-2.0
# Reboot the machine after the answer has been sent.
# usage: reboot.sh
(sleep 1; systemctl reboot || shutdown -r now || reboot) >/dev/null 2>&1 </dev/null &
