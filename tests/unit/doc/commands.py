# SPDX-License-Identifier: Apache-2.0
"""The commands of the console script, as setup.cfg declares them."""

import configparser
import importlib

from tests.cloud import __main__ as cloud
from tests.unit.doc import pages

#: cliff's own.
BUILT_IN = ("help", "complete")


def declared():
    """Return command -> module:class."""
    parser = configparser.ConfigParser()
    parser.read(pages.ROOT / "setup.cfg")
    lines = parser["options.entry_points"]["rally_vmperf.commands"]
    pairs = (line.split(" = ") for line in lines.strip().splitlines())
    return {name.strip(): place.strip() for name, place in pairs}


def parser(name):
    """Return the command's own parser."""
    module, _, attribute = declared()[name].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    return command(app=None, app_args=None).get_parser(name)


def list_cloud_options():
    """Return the options of the program of the embedded cloud, a set."""
    (subparsers,) = cloud.create_parser()._subparsers._group_actions
    return {
        option
        for subparser in subparsers.choices.values()
        for option in subparser._option_string_actions
    }


def find(arguments):
    """Return the command that words begin with, and the other words.

    A command of one word can be longer than it seems: the longest wins.
    """
    for length in (2, 1):
        name = " ".join(arguments[:length])
        if name in declared() or name in BUILT_IN:
            return name, arguments[length:]
    return None, arguments
