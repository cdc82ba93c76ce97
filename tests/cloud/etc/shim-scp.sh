#!/bin/bash
# In front of scp, as ssh.
exec /usr/bin/scp -F "${0%/bin/*}/etc/hypervisor_ssh_config" "$@"
