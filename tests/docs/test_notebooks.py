# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Notebooks and the examples of docs/python.md run from the first cell to the last, on the fake machine.

A notebook stores the output of its cells; `make golden` rewrites it. There is no kernel: cells are run in
this process, which saves some thirty packages and ten seconds.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from console import matches
from golden_files import Golden
from needs import need_module
from notebooks import Session, blocks, outputs, texts

import hockney

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
NEAR = 0.25


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def source(cell: dict) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_shows_what_it_keeps(path, place, golden: Golden):
    need_module("pandas")
    notebook = json.loads(path.read_text("utf-8"))
    session = Session()
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        now = outputs(session.run(source(cell)))
        if golden.regen:
            cell["outputs"] = now
            continue
        kept, seen = texts(cell["outputs"]), texts(now)
        assert len(kept) == len(seen), source(cell)
        for before, after in zip(kept, seen, strict=True):
            assert matches(before, after, NEAR), f"{source(cell)}\n{after}\n'make golden' rewrites it"
    if golden.regen:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_file_is_a_notebook(path):
    """The fields required by nbformat 4.5, and nothing machine-specific or large."""
    text = path.read_text("utf-8")
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", name) for name in ids)
    for cell in notebook["cells"]:
        code = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source", *code}
    assert len(text) < 40_000 and " at 0x" not in text


def test_there_is_a_notebook():
    assert NOTEBOOKS


def test_the_examples_of_the_python_page_run(place):
    page = (DOCS / "python.md").read_text("utf-8")
    session = Session()
    shown = [session.run(block) for block in blocks(page)]
    assert len(shown) > 4 and shown[0].printed
    promised = re.findall(r"^ *print\(.*\) +# (.*)$", page, re.MULTILINE)
    printed = "".join(each.printed for each in shown).splitlines()
    for text in promised:
        assert any(matches(text, line, NEAR) for line in printed), text


def test_the_python_page_has_every_name():
    page = (DOCS / "python.md").read_text("utf-8")
    assert [name for name in hockney.__all__ if not re.search(rf"`(hockney\.)?{name}\b", page)] == []
    hidden = {
        "run": {"requested", "cost", "evidence", "folder", "page", "reading", "results", "save_fits"},
        "model": {"ranges", "read"},
        "comparison": {"compared", "judgement", "page"},
        "history": {"listen"},
    }
    documented = {
        "run": hockney.Run,
        "model": hockney.FittedModel,
        "forecast": hockney.Forecast,
        "comparison": hockney.Comparison,
        "history": hockney.History,
    }
    for name, kind in documented.items():
        public = {each for each in (*vars(kind), *kind.__annotations__) if not each.startswith("_")}
        missing = {n for n in public - hidden.get(name, set()) if not re.search(rf"`{name}\.{n}\b", page)}
        assert not missing, name


def test_the_reference_has_every_name():
    page = (DOCS / "reference" / "api.md").read_text("utf-8")
    names = set(hockney.__all__) - {"__version__"}
    assert {name for name in names if not re.search(rf"auto\w+:: hockney\.{name}$", page, re.M)} == set()
