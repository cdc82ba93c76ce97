"""Configuration of the documentation's build."""

project = "rally-vmperf"
extensions = [
    "openstackdocstheme",
    "sphinx.ext.autodoc",
    "oslo_config.sphinxext",
]
html_theme = "openstackdocs"
openstackdocs_auto_name = False
openstackdocs_auto_version = False
version = release = ""
master_doc = "index"
nitpicky = False
exclude_patterns: list[str] = []
