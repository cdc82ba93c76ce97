# SPDX-License-Identifier: Apache-2.0
"""Configure a guest by its instance data, at the first boot.

The instance data comes from a config drive or from the metadata service. The
user data is a cloud-config document, of which a few keys are supported.
Nothing of it is printed except the public host keys.

usage: configure.py [ROOT [SERVICE [SECONDS]]]   other values in tests
"""

import base64
import email
import http.client
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import yaml

USER = "debian"
#: The maximum size of metadata and of user data in bytes, and the maximum
#: number of nested levels of a document.
LARGEST, DEEPEST = 1 << 20, 64
LABELS = ("config-2", "CONFIG-2")
SUPPORTED = {
    *("bootcmd", "runcmd", "write_files"),
    *("ssh", "ssh_authorized_keys", "ssh_deletekeys", "ssh_keys"),
}
#: Keys that are accepted and have no effect here.
WITHOUT_EFFECT = {"no_ssh_fingerprints", "package_update", "package_upgrade"}
_HOST_KEY = re.compile("(rsa|ecdsa|ed25519)_(private|public)")
_HOSTNAME = re.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,62})")
_INVALID = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(RecursionError, MemoryError, OverflowError),
)
_UNAVAILABLE = (
    *_INVALID,
    http.client.HTTPException,
    subprocess.SubprocessError,
)


def say(text):
    """Print a line for the console."""
    print(f"vmperf-guest: {text}", flush=True)


def run(*argv, **options):
    """Run a program; raise an exception if it fails."""
    subprocess.run(argv, check=True, **options)


def write(path, content, mode=0o644):
    """Write a file that never has more permissions than these."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.touch(mode=mode)
    path.write_bytes(content)
    path.chmod(mode)


def describe(error):
    """Return the kind of an error, whose message would quote the data."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit status {error.returncode}"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return error.args[0] if type(error) is Invalid else type(error).__name__


class Invalid(ValueError):
    """Invalid data; the message does not contain them."""


def read_drive(root, service, deadline):
    """Return metadata and user data from the config drive."""
    mount = root / "run/vmperf-guest/drive"
    mount.mkdir(parents=True, exist_ok=True)
    for label in LABELS:
        try:
            run(
                *("mount", "-o", "ro", f"LABEL={label}", str(mount)),
                stderr=subprocess.DEVNULL,
            )
        except subprocess.CalledProcessError:
            continue
        try:
            latest = mount / "openstack/latest"
            user_data = latest / "user_data"
            return (
                read_file(latest / "meta_data.json"),
                read_file(user_data) if user_data.exists() else b"",
            )
        finally:
            run("umount", str(mount))
    raise Invalid("there is none")


def read_file(path):
    """Return the content of a file; reject a large one."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Invalid(f"{path.name} has more than {LARGEST} bytes")
    return content


def read_service(root, service, deadline):
    """Return metadata and user data from the metadata service.

    A service that sends without end, or a byte now and then, is given up.
    """
    contents = []
    for name in ("meta_data.json", "user_data"):
        connection = http.client.HTTPConnection(service, timeout=10)
        try:
            connection.request("GET", f"/openstack/latest/{name}")
            answer = connection.getresponse()
            content = b""
            while chunk := answer.read1(1 << 16):
                content += chunk
                if len(content) > LARGEST:
                    raise Invalid(f"{name} has more than {LARGEST} bytes")
                if time.monotonic() >= deadline:
                    raise Invalid(f"{name} is not complete in time")
        finally:
            connection.close()
        if answer.status == 404 and contents:
            content = b""
        elif answer.status != 200:
            raise Invalid(f"{name}: status {answer.status}")
        contents.append(content)
    return contents


SOURCES = {"config drive": read_drive, "metadata service": read_service}


def find_data(root, service, seconds):
    """Return the name of the source, the metadata and the user data.

    A drive can appear late, and the network needs some time.

    :raises LookupError: If no source has valid metadata after the seconds.
    """
    deadline = time.monotonic() + seconds
    while True:
        # A source has some time, even if it is the last attempt.
        end = max(deadline, time.monotonic() + 10)
        reasons = []
        for source, read in SOURCES.items():
            try:
                content, user_data = read(root, service, end)
                metadata = json.loads(content)
                if isinstance(metadata, dict):
                    return source, metadata, user_data
                raise Invalid("meta_data.json is not a mapping")
            except _UNAVAILABLE as error:
                reasons.append(f"{source}: {describe(error)}")
        if time.monotonic() >= deadline:
            raise LookupError("; ".join(reasons))
        time.sleep(0.5)


def parse_user_data(user_data):
    """Return one mapping; later documents override keys of earlier ones."""
    documents = []
    if user_data.startswith(b"#cloud-config"):
        documents.append(user_data)
    elif user_data.strip():
        for part in email.message_from_bytes(user_data).walk():
            if part.get_content_type() == "text/cloud-config":
                documents.append(part.get_payload(decode=True))
            elif not part.is_multipart():
                say("user data is ignored: a part is no cloud-config")
    merged = {}
    for document in documents:
        try:
            check_depth(document)
            merged.update(yaml.safe_load(document) or {})
        except yaml.YAMLError:
            raise Invalid("not valid YAML") from None
    if others := merged.keys() - SUPPORTED - WITHOUT_EFFECT:
        say(f"user data is ignored: {len(others)} keys are not supported")
    return merged


def check_depth(document):
    """Reject a document that is too deep to be loaded, or has references."""
    depth = 0
    for event in yaml.parse(document):
        if isinstance(event, (yaml.CollectionStartEvent, yaml.AliasEvent)):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise Invalid(f"more than {DEEPEST} levels or references")


def compose_script(commands):
    """Return a shell script of commands, strings or lists of words."""
    lines = [
        command if isinstance(command, str) else shlex.join(map(str, command))
        for command in commands
    ]
    return "\n".join(["#!/bin/sh", *lines, ""]).encode()


def set_hostname(root, metadata):
    """Set the host name to the first label of the one in the metadata."""
    full = metadata.get("hostname", "")
    name = full.split(".")[0]
    if not _HOSTNAME.fullmatch(name):
        raise Invalid("not a valid host name")
    run("hostname", name)
    write(root / "etc/hostname", f"{name}\n".encode())
    write(
        root / "etc/hosts",
        f"127.0.0.1 localhost\n127.0.1.1 {name}\n"
        "::1 localhost ip6-localhost ip6-loopback\n".encode(),
    )


def authorize_keys(root, metadata, document):
    """Let the keys of the metadata and of the user data log in."""
    keys = [
        *(metadata.get("public_keys") or {}).values(),
        *(document.get("ssh_authorized_keys") or []),
    ]
    lines = [key.strip() for key in keys]
    if not all(line.isprintable() for line in lines):
        raise Invalid("a key is not one printable line")
    home = root / "home" / USER
    path = home / ".ssh/authorized_keys"
    write(path, "".join(f"{line}\n" for line in lines).encode(), 0o600)
    path.parent.chmod(0o700)
    owner = home.stat()
    for created in (path.parent, path):
        os.chown(created, owner.st_uid, owner.st_gid)


def install_host_keys(root, document):
    """Install the host keys of the user data, or generate one."""
    folder = root / "etc/ssh"
    if document.get("ssh_deletekeys", True):
        for path in folder.glob("ssh_host_*"):
            path.unlink()
    invalid = 0
    keys = document.get("ssh_keys") or {}
    for name, key in keys.items() if isinstance(keys, dict) else [("", "")]:
        match = isinstance(name, str) and _HOST_KEY.fullmatch(name)
        if not (match and isinstance(key, str)):
            invalid += 1
            continue
        kind, half = match.groups()
        private = half == "private"
        suffix = "" if private else ".pub"
        write(
            folder / f"ssh_host_{kind}_key{suffix}",
            f"{key.strip()}\n".encode(),
            0o600 if private else 0o644,
        )
    if not any(folder.glob("ssh_host_*_key")):
        path = folder / "ssh_host_ed25519_key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))
    if invalid:
        raise Invalid(f"{invalid} entries of ssh_keys are not valid")


def print_host_keys(root, document):
    """Print the public host keys, unless the user data forbids it."""
    settings = document.get("ssh") or {}
    if settings.get("emit_keys_to_console", True):
        print("-----BEGIN SSH HOST KEY KEYS-----")
        for path in (root / "etc/ssh").glob("ssh_host_*_key.pub"):
            print(path.read_text().strip())
        print("-----END SSH HOST KEY KEYS-----", flush=True)


def write_files(root, entries):
    """Write the files of the user data."""
    for entry in entries:
        content = entry.get("content", "").encode()
        encoding = entry.get("encoding", "text/plain")
        if encoding in ("b64", "base64"):
            content = base64.b64decode(content)
        elif encoding != "text/plain":
            raise Invalid("an encoding is not supported")
        mode = entry.get("permissions", 0o644)
        path = root / entry["path"].lstrip("/")
        if entry.get("append") and path.exists():
            content = path.read_bytes() + content
        write(path, content, mode if isinstance(mode, int) else int(mode, 8))
        if "owner" in entry:
            # Its message would quote the owner.
            owner = ("chown", "--", entry["owner"], str(path))
            run(*owner, stderr=subprocess.DEVNULL)


def configure(root, metadata, user_data):
    """Configure the guest; return whether no step failed."""
    document = {}

    def parse():
        document.update(parse_user_data(user_data))

    def boot():
        write(script, compose_script(document.get("bootcmd") or []), 0o700)
        run("sh", str(script))

    def schedule():
        if document.get("runcmd"):
            commands = root / "run/vmperf-guest/commands"
            write(commands, compose_script(document["runcmd"]), 0o700)
            run("systemctl", "start", "--no-block", "vmperf-commands")

    script = root / "var/lib/vmperf-guest/bootcmd"
    steps = {
        "user data": parse,
        "bootcmd": boot,
        "write_files": lambda: write_files(
            root, document.get("write_files") or []
        ),
        "host name": lambda: set_hostname(root, metadata),
        "authorized keys": lambda: authorize_keys(root, metadata, document),
        "host keys": lambda: install_host_keys(root, document),
        "console": lambda: print_host_keys(root, document),
        "runcmd": schedule,
    }
    failures = 0
    for name, step in steps.items():
        try:
            step()
        except (*_INVALID, subprocess.SubprocessError) as error:
            failures += 1
            say(f"{name}: {describe(error)}")
    return not failures


def main(root="/", service="169.254.169.254", seconds="120"):
    """Configure a new instance, or run the boot commands of a known one."""
    root = pathlib.Path(root)
    identity = root / "sys/class/dmi/id/product_uuid"
    known = root / "var/lib/vmperf-guest/instance"
    # Nova sets the identity; without any, each boot configures the guest.
    instance = identity.read_bytes() if identity.exists() else b""
    if instance and known.exists() and known.read_bytes() == instance:
        run("sh", str(known.with_name("bootcmd")))
        return 0
    say("looking for instance data")
    try:
        source, metadata, user_data = find_data(root, service, float(seconds))
    except LookupError as error:
        say(f"No instance datasource found: {error.args[0]}")
        install_host_keys(root, {})
        return 1
    succeeded = configure(root, metadata, user_data)
    write(known, instance)
    say(f"finished with the instance data of the {source}")
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
