# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of Python run one after the other in one namespace, as in a notebook, but without a kernel."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from dataclasses import dataclass
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """What a cell printed, and the value of its last line."""

    printed: str
    value: Any


class Session:
    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, source: str) -> Shown:
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        value = None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)
        return Shown(printed.getvalue(), value)


def outputs(shown: Shown) -> list[dict[str, Any]]:
    """As stored in a notebook (nbformat 4.5): text, and HTML of hockney's own objects. Figures, which are
    large, are left out."""
    kept: list[dict[str, Any]] = []
    if shown.printed:
        kept.append({"name": "stdout", "output_type": "stream", "text": lines(shown.printed)})
    module = type(shown.value).__module__
    if shown.value is not None and not module.startswith("plotly"):
        data = {"text/plain": lines(repr(shown.value))}
        if module.startswith("hockney") and hasattr(shown.value, "_repr_html_"):
            data = {"text/html": lines(shown.value._repr_html_()), **data}
        kept.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return kept


def lines(text: str) -> list[str]:
    """A text as stored by nbformat."""
    return text.splitlines(keepends=True)


def texts(cell_outputs: list[dict[str, Any]]) -> list[str]:
    """All texts of a cell's outputs, for comparison."""
    kept = [out["data"] if "data" in out else {"text": out["text"]} for out in cell_outputs]
    return ["".join(text) for data in kept for text in data.values()]


def blocks(page: str) -> list[str]:
    """The ```python blocks of a page."""
    return BLOCK.findall(page)
