# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the site; `make docs` copies the pages and writes the reference beside them before it calls Sphinx."""
import os
from pathlib import Path

project = "spore"
author = "the spore authors"
copyright = "the spore authors, Apache-2.0"
version = release = os.environ.get("SPORE_DOCS_VERSION", "0")

extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["status.md", "_templates"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
default_role = "code"           # `x` in docstrings is code
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]
nitpicky = False
maximum_signature_line_length = 100
add_module_names = False
toc_object_entries = False      # thousands of names are in the index, not in the tables of contents
smartquotes = False             # what is shown can be copied

html_theme = "furo"
html_title = "spore"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False          # the search finds names; the index would be the largest page
html_domain_indices = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}

# One page a verb; the texts are those of `spore VERB --help`.
man_pages = [(f"reference/command/{page.stem}", page.stem, "the command of spore", [], 1)
             for page in sorted((Path(__file__).parent / "reference/command").glob("spore*.rst"))]
