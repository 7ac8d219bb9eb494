# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: `make docs` builds it into site/ (decision 18).

Its sources are the Markdown files and notebooks of the repository, from the root, so that the links between
them work on the site as they do in a checkout. Nothing is downloaded, and the finished pages load nothing
either.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hockney import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "hockney"
author = copyright = "The hockney authors"
release = version = __version__

extensions = ["myst_parser", "notebook_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
include_patterns = ["docs/**", "hockney/suites/*/docs/**", "README.md", "CHANGELOG.md"]
CONTRIBUTORS = ["docs/architecture.md", "docs/extending.md", "docs/testing.md", "docs/decisions"]
"""Pages for people who change hockney: read in the repository, not on the site."""
exclude_patterns = [".*", "site", "docs/_site", "docs/images", *CONTRIBUTORS]
root_doc = "docs/index"

# links to headings (method.md#intervals) work as on GitHub
myst_heading_anchors = 4
# in docstrings a single backtick marks code
default_role = "code"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# code blocks abbreviated with `...` are not valid C++ or JSON
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"hockney {release}"
templates_path = ["."]
# the start page has the path of its source, so site/index.html redirects to it
html_additional_pages = {"index": "redirect.html"}
html_copy_source = False
html_show_sphinx = False

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:#]+\.md)(#[^)\s]*)?\)")


def unlink_files_of_the_repository(app, docname, source):
    """Links to Markdown files that exist but are not on the site become plain text."""
    folder = Path(app.env.doc2path(docname)).parent

    def shown(link):
        path = (folder / link[2]).resolve()
        name = app.env.path2doc(str(path))
        return link[1] if path.is_file() and name not in app.env.found_docs else link[0]

    source[0] = LINK.sub(shown, source[0])


def setup(app):
    app.connect("source-read", unlink_files_of_the_repository)
