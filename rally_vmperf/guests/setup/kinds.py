# SPDX-License-Identifier: Apache-2.0
"""The kinds of images, flavors and networks, by properties and names."""

import collections.abc
import re
import typing as t

from rally_vmperf.guests import resolve

#: The login names of images with cloud-init, by distribution.
USERS = {
    "debian": "debian",
    "ubuntu": "ubuntu",
    "rocky": "rocky",
    "almalinux": "almalinux",
    "fedora": "fedora",
    "centos": "cloud-user",
    "rhel": "cloud-user",
}
#: The last version of CentOS in whose images the user has another name.
_OLD_CENTOS = (8,)
#: The first words of names that differ from those of the distributions.
_ALIASES = {"alma": "almalinux", "rockylinux": "rocky"}
#: The distributions and versions of code names.
_CODENAMES = {
    "stretch": ("debian", (9,)),
    "buster": ("debian", (10,)),
    "bullseye": ("debian", (11,)),
    "bookworm": ("debian", (12,)),
    "trixie": ("debian", (13,)),
    "forky": ("debian", (14,)),
    "trusty": ("ubuntu", (14, 4)),
    "xenial": ("ubuntu", (16, 4)),
    "bionic": ("ubuntu", (18, 4)),
    "focal": ("ubuntu", (20, 4)),
    "jammy": ("ubuntu", (22, 4)),
    "noble": ("ubuntu", (24, 4)),
    "oracular": ("ubuntu", (24, 10)),
    "plucky": ("ubuntu", (25, 4)),
    "questing": ("ubuntu", (25, 10)),
}
#: The oldest versions whose packages are on the usual mirrors.
_CURRENT = {
    "debian": (11,),
    "ubuntu": (20, 4),
    "rocky": (8,),
    "almalinux": (8,),
    "fedora": (41,),
    "centos": (9,),
    "rhel": (8,),
}
#: The words of names of plain images; others are of images for a purpose.
_PLAIN = (
    "gnu linux os cloud cloudimg server generic genericcloud base image img "
    "lts minimal stream daily latest current release stable default official "
    "disk kvm qemu raw uefi bios efi guest openstack vm v x standard edition "
    "the of for and"
)
#: The architecture of most hosts.
ARCHITECTURE = "x86_64"
_ARCHITECTURES = {
    "x86_64": re.compile(r"x86[-_ ]?64|amd64|\bx64\b"),
    "aarch64": re.compile(r"aarch64|arm64"),
    "armv7l": re.compile(r"armv7|armhf|armel"),
    "i686": re.compile(r"\bi[3-6]86\b"),
    "ppc64le": re.compile(r"ppc64|powerpc64"),
    "s390x": re.compile(r"s390x"),
    "riscv64": re.compile(r"riscv64"),
    "loongarch64": re.compile(r"loong(?:arch)?64"),
}
#: Formats of disks that no guest boots from alone.
_NO_DISKS = ("iso", "aki", "ari", "ami")
_NO_GUESTS = ("docker", "aki", "ari", "ami")
_TERM = re.compile(r"[a-z]{1,80}(?:[0-9]{1,8}[a-z]{1,80}){0,4}")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_NUMBER = re.compile(r"(?<![0-9.])[0-9]{1,8}(?:\.[0-9]{1,8}){0,3}")
#: The version of Ubuntu without its dot.
_UBUNTU = re.compile(r"(?<![0-9.])([0-9]{2})(04|10)(?![0-9.])")
#: The kinds of images that words in their names show.
_KINDS = (
    ("an amphora of Octavia", "amphora octavia"),
    ("an image of a service", "trove sahara manila murano magnum heat"),
    ("an image of Ironic", "ironic ipa deploy"),
    ("no disk of a guest", "kernel vmlinuz initrd initramfs ramdisk"),
    ("Windows", "windows win"),
    ("configured by Ignition", "coreos flatcar rhcos scos ignition"),
    ("without cloud-init", "nocloud"),
    (
        "an installer",
        "installer install netinst netboot live livecd dvd rescue iso",
    ),
    ("a desktop", "desktop gnome kde xfce workstation kiosk"),
    (
        "a host of containers",
        "atomic container containers docker kubernetes kube k8s k3s capi rke "
        "talos microos rancher silverblue lxc lxd podman",
    ),
    ("a snapshot", "snapshot snap backup"),
    ("without Linux", "bsd freebsd openbsd netbsd"),
)
#: Names of processors of graphics and of other devices, in names and extra
#: specs of flavors.
_DEVICES = re.compile(
    r"gpu|nvidia|fpga|(?<![a-z0-9])(?:a10|a16|a30|a40|a100|h100|h200|l4|l40s?|"
    r"p100|t4|v100|mi[0-9]{2,3}x?|rtx[a-z0-9]{0,6})(?![a-z0-9])"
)
_SERVICE_FLAVORS = re.compile(
    r"(?<![a-z])(?:amphora|octavia|trove|manila|sahara|magnum)"
)
_NODES = re.compile(r"(?<![a-z])(?:ironic|bare-?metal)")
_ENCRYPTION = ("hw:mem_encryption", "trait:HW_CPU_X86_AMD_SEV")
#: The keys of extra specs that request a resource of a host.
_RESOURCE = re.compile(r"resources[^:]{0,64}:(?:[VP]GPU|CUSTOM_|PCI|FPGA)")
#: The values of extra specs that request nothing.
_NOTHING = ("0", "false", "no", "forbidden", "")
#: The networks of services, by their usual names.
_SERVICE_NETWORKS = re.compile(
    r"^ha network tenant|^lb-?mgmt|octavia|amphora|trove|manila[-_]service|"
    r"sahara|magnum|ironic|(?<![a-z])(?:ctlplane|control-?plane|provision"
    r"(?:ing)?|cleaning|inspection|idrac|ipmi|bmc)(?![a-z])"
)
#: The names of networks that usually have another purpose.
_PURPOSES = re.compile(
    r"(?<![a-z])(?:mgmt|management|storage|backup|replication|migration|"
    r"heartbeat|ceph|nfs|iscsi)"
)


def _read_name(image: t.Any) -> str:
    """Return the name in lower case, without architecture and format."""
    name = str(image.name or "").lower()
    for pattern in _ARCHITECTURES.values():
        name = pattern.sub(" ", name)
    return name.replace("qcow2", " ")


def find_image_misfit(
    image: t.Any, architecture: str = ARCHITECTURE, project: str = ""
) -> str:
    """Return why an image is not one for guests with cloud-init, or "".

    :param image: The image, as an object of the SDK.
    :param architecture: The architecture of the hosts.
    :param project: The identifier of the project; empty if it is not known.
    """
    terms = set(_TERM.findall(_read_name(image)))
    terms |= set(_TERM.findall(resolve.read_property(image, "os_distro")))
    terms |= {str(tag).lower() for tag in getattr(image, "tags", None) or ()}
    own_architecture = find_architecture(image)
    owner = resolve.read_property(image, "owner_id") or resolve.read_property(
        image, "owner"
    )
    hypervisor = resolve.read_property(
        image, "img_hv_type"
    ) or resolve.read_property(image, "hypervisor_type")
    is_foreign = bool(owner and project) and owner != project.lower()
    rules = (
        (
            image.disk_format in _NO_DISKS
            or getattr(image, "container_format", None) in _NO_GUESTS,
            "no disk",
        ),
        (
            resolve.read_property(image, "image_type")
            in ("snapshot", "backup")
            or any(
                resolve.read_property(image, name)
                for name in (
                    "base_image_ref",
                    "instance_uuid",
                    "block_device_mapping",
                )
            ),
            "a snapshot",
        ),
        (
            is_foreign
            and resolve.read_property(image, "visibility") == "private",
            "of another project",
        ),
        (hypervisor in ("ironic", "baremetal"), "an image of Ironic"),
        (
            hypervisor not in ("", "kvm", "qemu"),
            f"for the hypervisor {hypervisor}",
        ),
        (resolve.read_property(image, "os_type") == "windows", "Windows"),
        *(
            (not terms.isdisjoint(kind_terms.split()), kind)
            for kind, kind_terms in _KINDS
        ),
        (
            own_architecture not in ("", architecture),
            f"for {own_architecture}",
        ),
    )
    return next((kind for applies, kind in rules if applies), "")


def find_architecture(image: t.Any) -> str:
    """Return the architecture of an image, or "" if it says none."""
    stated = " ".join(
        resolve.read_property(image, name)
        for name in ("architecture", "hw_architecture")
    )
    return parse_architecture(stated) or parse_architecture(
        str(image.name or "")
    )


def parse_architecture(text: str) -> str:
    """Return the architecture that a text names, or ""."""
    for architecture, pattern in _ARCHITECTURES.items():
        if pattern.search(text.lower()):
            return architecture
    return ""


def find_distribution(image: t.Any) -> str:
    """Return the distribution among ``USERS``, or "" for another.

    The property ``os_distro`` precedes the name. A code name is sufficient.
    """
    distribution = resolve.read_property(image, "os_distro")
    if distribution in ("", "linux", "other", "others", "unknown"):
        distribution = _read_name(image)
    for word in _TERM.findall(distribution):
        if word in _ALIASES:
            return _ALIASES[word]
        for known in USERS:
            if word.startswith(known):
                return known
        if word in _CODENAMES:
            return _CODENAMES[word][0]
    return ""


def find_version(image: t.Any) -> tuple[int, ...]:
    """Return the version of the distribution as numbers; () if unknown.

    A date in a name, such as 20240101, is no version.
    """
    distribution = find_distribution(image)
    for text in (
        resolve.read_property(image, "os_version"),
        _read_name(image),
    ):
        # The version follows the name of the distribution.
        position = max(text.find(distribution), 0)
        short = _UBUNTU.search(text, position)
        if distribution == "ubuntu" and short and int(short[1]) < 50:
            return int(short[1]), int(short[2])
        for match in _NUMBER.findall(text, position):
            numbers = tuple(map(int, match.split(".")))
            if numbers[0] < 1000:
                return numbers
        for word in _TERM.findall(text):
            if _CODENAMES.get(word, ("",))[0] == distribution != "":
                return _CODENAMES[word][1]
    return ()


def count_purposes(image: t.Any) -> int:
    """Return the number of words in the name that no plain image has."""
    plain = {*_PLAIN.split(), *_ALIASES, *_CODENAMES}
    return sum(
        word not in plain and not word.startswith(tuple(USERS))
        for word in _TERM.findall(_read_name(image))
    )


def is_current(image: t.Any) -> bool:
    """Return whether mirrors have the packages of an image's version."""
    version = find_version(image)
    oldest = _CURRENT.get(find_distribution(image), ())
    return not version or version >= oldest


def find_user(image: t.Any) -> str:
    """Return the login name of an image with cloud-init.

    The property ``image_original_user`` is of the Sovereign Cloud Stack.
    """
    stated = resolve.read_property(image, "image_original_user")
    if _USER.fullmatch(stated):
        return stated
    distribution = find_distribution(image)
    version = find_version(image)
    if distribution == "centos" and () < version[:1] <= _OLD_CENTOS:
        return "centos"
    return USERS[distribution]


def find_flavor_misfit(
    flavor: t.Any,
    extra_specs: collections.abc.Mapping[str, str],
    architecture: str = ARCHITECTURE,
) -> str:
    """Return why a flavor is not that of usual guests, or "".

    :param flavor: The flavor, as an object of the SDK.
    :param extra_specs: The extra specs of the flavor.
    :param architecture: The architecture of the image.
    """
    name = str(flavor.name or "").lower()
    requested = {
        key: str(value)
        for key, value in extra_specs.items()
        if str(value).lower() not in _NOTHING
    }
    specs = "\n".join(
        f"{key}={value}".lower() for key, value in requested.items()
    )
    own_architecture = parse_architecture(specs) or parse_architecture(
        re.sub(r"\barm\b", "arm64", name)
    )
    rules = (
        (bool(getattr(flavor, "is_disabled", False)), "it is disabled"),
        (
            resolve.boots_nodes(extra_specs)
            or bool(_NODES.search(specs) or _NODES.search(name)),
            "it boots nodes of Ironic",
        ),
        (
            any(key.startswith("pci_passthrough:") for key in requested)
            or bool(_DEVICES.search(specs) or _DEVICES.search(name))
            or any(map(_RESOURCE.match, requested)),
            "it has PCI devices or GPUs",
        ),
        (
            any(key.startswith(_ENCRYPTION) for key in requested),
            "it encrypts memory",
        ),
        (bool(_SERVICE_FLAVORS.search(name)), "it is of a service"),
        (
            own_architecture not in ("", architecture),
            f"for {own_architecture}",
        ),
    )
    return next((kind for applies, kind in rules if applies), "")


def find_network_misfit(
    network: t.Any, project: str, *, is_admin: bool
) -> str:
    """Return why a network is not one for guests of the project, or "".

    :param network: The network, as an object of the SDK.
    :param project: The identifier of the project.
    :param is_admin: Whether the user is an administrator, who sees networks
        of other projects and boots guests on external networks.
    """
    if misfit := resolve.find_network_misfit(network):
        return misfit.partition(";")[0]
    if _SERVICE_NETWORKS.search(str(network.name or "").lower()):
        return "of a service"
    is_shared = getattr(network, "is_shared", None)
    if network.is_router_external:
        if is_shared is False and not is_admin:
            return "external, and not shared"
        return ""
    if is_shared is False and not is_own(network, project):
        return "of another project"
    return ""


def is_own(network: t.Any, project: str) -> bool:
    """Return whether a network belongs to the project, or to none."""
    owner = getattr(network, "project_id", None)
    return owner is None or owner == project


def has_purpose(network: t.Any) -> bool:
    """Return whether the name of a network is of another purpose."""
    return bool(_PURPOSES.search(str(network.name or "").lower()))
