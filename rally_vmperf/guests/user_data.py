"""What cloud-init in a guest is told: its host key, and who may log in."""

import base64
from email import message
from email.mime import multipart
from email.mime import text

import yaml

from rally_vmperf.guests import errors
from rally_vmperf.guests import host_keys

_LIMIT = 65535


def compose(
    host_key: host_keys.HostKey, client_key: str, own: str | None
) -> str:
    """Return user data for Nova, in base64.

    Nothing is installed or upgraded, so that the boot takes no longer. Ours
    comes last, so that it wins over the same keys in the user's document.

    :param client_key: public key that may log in
    :param own: a cloud-config document of the user's, or None
    :raises GuestError: when the user's document is none, or too long
    """
    document = {
        **host_key.cloud_config,
        "ssh_authorized_keys": [client_key],
        "no_ssh_fingerprints": True,
        "package_update": False,
        "package_upgrade": False,
    }
    parts = multipart.MIMEMultipart()
    if own:
        parts.attach(_part(_checked(own)))
    parts.attach(_part("#cloud-config\n" + yaml.safe_dump(document)))
    encoded = base64.b64encode(parts.as_bytes()).decode()
    if len(encoded) > _LIMIT:
        raise errors.GuestError(
            f"user_data: {len(encoded)} bytes as sent, Nova takes {_LIMIT}; "
            "shorten it or put it into the image"
        )
    return encoded


def _part(document: str) -> message.Message:
    return text.MIMEText(document, "cloud-config", "utf-8")


def _checked(own: str) -> str:
    try:
        parsed = yaml.safe_load(own)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise errors.GuestError(
            f"user_data: not YAML ({reason}); give a cloud-config document"
        ) from error
    if not isinstance(parsed, dict):
        raise errors.GuestError(
            f"user_data: a cloud-config document is a mapping, this is "
            f"{type(parsed).__name__}; give keys such as write_files"
        )
    header = "#cloud-config\n"
    return own if own.startswith(header) else header + own
