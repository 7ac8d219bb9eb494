# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Notebooks as pages of the site, with the outputs that they contain. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx


class NotebookParser(MystParser):
    supported: ClassVar[tuple[str, ...]] = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        super().parse(markdown(json.loads(inputstring)), document)


def markdown(notebook: dict[str, Any]) -> str:
    """The notebook as one Markdown text."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell))


def _cell(cell: dict[str, Any]) -> Iterable[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield _block("python", text)
    for output in cell.get("outputs", ()):
        data = output.get("data", {"text/plain": output.get("text", ())})
        if "text/html" in data:
            yield _block("{raw} html", "".join(data["text/html"]))
        else:
            yield _block("text", "".join(data.get("text/plain", ())))


def _block(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
