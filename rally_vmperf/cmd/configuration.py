"""Rally's configuration and environment, for our own commands."""

import argparse
import typing as t

from rally_vmperf import opts


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names Rally's configuration file."""
    parser.add_argument(
        "--config-file",
        metavar="FILE",
        help="rally.conf; default: where Rally itself looks for it",
    )


def load(config_file: str | None) -> t.Any:
    """Return Rally's API object; its options and our plugins are loaded."""
    from rally import api

    return api.API(config_file=config_file, skip_db_check=True)


def option(name: str) -> str:
    """Return the value of an option of the [vmperf] group."""
    from rally.common import cfg

    return t.cast(str, cfg.CONF[opts.GROUP][name])


def connection() -> t.Any:
    """Return a connection to the cloud of Rally's current environment.

    :raises RallyException: when there is none
    """
    import openstack
    from rally.env import env_mgr

    platform = env_mgr.EnvManager.get().data["platforms"]["openstack"]
    data = platform["platform_data"]
    user = data["admin"] or data["users"][0]
    return openstack.connection.Connection(
        auth={
            "auth_url": user["auth_url"],
            "username": user["username"],
            "password": user["password"],
            "project_name": user.get("project_name")
            or user.get("tenant_name"),
            "user_domain_name": user.get("user_domain_name") or "Default",
            "project_domain_name": user.get("project_domain_name")
            or "Default",
        },
        region_name=user.get("region_name") or None,
        interface=user.get("endpoint_type") or "public",
        cacert=user.get("https_cacert") or None,
        verify=not user.get("https_insecure"),
    )
