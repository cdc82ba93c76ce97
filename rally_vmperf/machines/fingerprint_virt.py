"""Tell KVM from QEMU's emulation (TCG) and from bare metal; pure."""

_KNOWN = {"none", "kvm", "qemu", "xen", "microsoft", "vmware", "oracle"}
_X86_CLOCKS = {"tsc", "hpet", "acpi_pm"}


def detect(
    *,
    detected: str,
    cpu_flags: str,
    lscpu_vendor: str,
    clocksources: str,
    dmi: str,
    hypervisor: str,
) -> str:
    """Return ``none``, ``kvm``, ``qemu`` (emulation) or another name.

    systemd-detect-virt knows best, for it reads the hypervisor's signature
    (CPUID leaf 0x40000000), of which TCG has its own.  Without it: only KVM
    offers its clock, and QEMU without any sign of KVM emulates.

    :param detected: what systemd-detect-virt says, empty if it is not there
    :param dmi: vendor and product; KVM's and TCG's guests both say QEMU
    :param hypervisor: /sys/hypervisor/type
    """
    if detected in _KNOWN:
        return detected
    if detected:
        return "other"
    if hypervisor == "xen":
        return "xen"
    if "kvm-clock" in clocksources:
        return "kvm"
    if any(name in dmi for name in ("QEMU", "OpenStack", "Bochs")):
        # Only x86 has KVM's clock; lscpu takes any QEMU for KVM.
        return "qemu" if _X86_CLOCKS & set(clocksources.split()) else "unknown"
    if lscpu_vendor:
        return lscpu_vendor.lower()
    if not cpu_flags:
        return "unknown"
    return "unknown" if "hypervisor" in cpu_flags.split() else "none"
