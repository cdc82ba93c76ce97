"""The kinds of images of a cloud, by their properties and names."""

import re
import typing as t

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
#: The architecture of hosts, unless an image says otherwise.
ARCHITECTURE = "x86_64"
_ARCHITECTURES = {
    "x86_64": re.compile(r"x86[-_]64|amd64"),
    "aarch64": re.compile(r"aarch64|arm64"),
    "ppc64le": re.compile(r"ppc64"),
    "s390x": re.compile(r"s390x"),
    "riscv64": re.compile(r"riscv64"),
}
#: Formats of disks that no guest boots from alone.
_NO_DISKS = ("iso", "aki", "ari", "ami")
_VERSION = re.compile(r"[0-9]{1,8}(?:\.[0-9]{1,8}){0,3}")
_LETTERS = re.compile(r"[a-z]+")


def read_property(image: t.Any, name: str) -> str:
    """Return a property of an image in lower case, or ""."""
    properties = getattr(image, "properties", None) or {}
    content = getattr(image, name, None) or properties.get(name)
    return str(content or "").lower()


def find_misfit(image: t.Any) -> str:
    """Return why an image is not one for guests with cloud-init, or "".

    :param image: The image, as an object of the SDK.
    """
    name = str(image.name or "").lower()
    distribution = read_property(image, "os_distro")
    named = f"{distribution} {name}"
    tags = {str(tag).lower() for tag in getattr(image, "tags", None) or ()}
    architecture = find_architecture(image)
    rules = (
        (image.disk_format in _NO_DISKS, "no disk"),
        (
            read_property(image, "image_type") in ("snapshot", "backup")
            or bool(read_property(image, "base_image_ref")),
            "a snapshot",
        ),
        ("amphora" in tags or "amphora" in name, "an amphora of Octavia"),
        (
            bool(re.search(r"\bironic\b|ironic-|\bipa\b|ipa-|-deploy", named))
            or read_property(image, "hypervisor_type")
            in ("ironic", "baremetal"),
            "an image of Ironic",
        ),
        (
            read_property(image, "os_type") == "windows" or "windows" in named,
            "Windows",
        ),
        (
            bool(re.search(r"core-?os|flatcar|rhcos", named)),
            "configured by Ignition",
        ),
        ("nocloud" in name, "without cloud-init"),
        (
            architecture not in ("", ARCHITECTURE),
            f"for {architecture}",
        ),
    )
    return next((kind for applies, kind in rules if applies), "")


def find_architecture(image: t.Any) -> str:
    """Return the architecture of an image, or "" if it says none."""
    stated = " ".join(
        read_property(image, name)
        for name in ("architecture", "hw_architecture")
    )
    for text in (stated, str(image.name or "").lower()):
        for architecture, pattern in _ARCHITECTURES.items():
            if pattern.search(text):
                return architecture
    return ""


def find_distribution(image: t.Any) -> str:
    """Return the distribution among ``USERS``, or "" for another.

    The property ``os_distro`` precedes the first word of the name.
    """
    distribution = read_property(image, "os_distro")
    if distribution:
        texts = [distribution]
    else:
        texts = _LETTERS.findall(str(image.name or "").lower())
    for text in texts:
        for known in USERS:
            if text.startswith(known):
                return known
    return ""


def find_version(image: t.Any) -> tuple[int, ...]:
    """Return the version of the distribution as numbers; () if unknown.

    A date in a name, such as 20240101, is no version.
    """
    for text in (
        read_property(image, "os_version"),
        str(image.name or ""),
    ):
        for match in _VERSION.findall(text):
            numbers = tuple(map(int, match.split(".")))
            if numbers[0] < 1000:
                return numbers
    return ()
