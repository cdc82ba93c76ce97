# SPDX-License-Identifier: Apache-2.0
"""Configuration of the documentation's build."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

project = "rally-vmperf"
extensions = [
    "cliff.sphinxext",
    "doc.ext.directives",
    "openstackdocstheme",
    "oslo_config.sphinxext",
    "sphinx.ext.autodoc",
]
autoprogram_cliff_app_dist_name = "rally-vmperf"
# Every command has them; the page of the commands describes them once.
autoprogram_cliff_ignored = [
    "--help",
    "--format",
    "--column",
    "--quote",
    "--noindent",
    "--max-width",
    "--fit-width",
    "--print-empty",
    "--sort-column",
    "--sort-ascending",
    "--sort-descending",
    "--config-file",
]
html_theme = "openstackdocs"
openstackdocs_auto_name = False
openstackdocs_auto_version = False
version = release = ""
master_doc = "index"
nitpicky = False
exclude_patterns: list[str] = []
