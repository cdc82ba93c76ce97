#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In front of scp, as ssh.
exec /usr/bin/scp -F "${0%/bin/*}/etc/hypervisor_ssh_config" "$@"
