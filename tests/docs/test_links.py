# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The targets of the documentation's links exist, and its lists are complete."""

from __future__ import annotations

import re
from pathlib import Path

from layers import modules

from hockney.core.record import Close, Failure, Launch, Record
from hockney.measurement import bundled_catalog

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "contract" / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "hockney").rglob("*.md"),
    *(ROOT / "benchmarks").rglob("*.md"),
]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)", re.MULTILINE)
# `hockney/launch/command.py` in running text; examples of files to be created (and PACKAGE, any package) do
# not exist
ROOTS = "hockney|engine|tests|contract|docs|benchmarks"
FILE = re.compile(rf"`((?!tests/(?:golden/)?PACKAGE)(?:{ROOTS})/[\w./-]+\.\w+)`")
TO_BE_MADE = ("x.py", "x.cpp", "x.csv", "x.toml", "ring.cpp", "pairwise.cpp", "cold.py", "toy.py")


def test_links_and_names_of_files_are_good():
    for page in PAGES:
        text = page.read_text("utf-8")
        for target in LINK.findall(text):
            if not target.startswith(("http://", "https://", "#")):
                assert (page.parent / target.partition("#")[0]).exists(), (page, target)
        for name in FILE.findall(text):
            assert name.endswith(TO_BE_MADE) or (ROOT / name).exists(), (page, name)


def test_the_readme_is_short_and_shows_an_output_early():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= 700
    assert text.splitlines().index("```text") < 30


def test_the_changelog_is_short():
    assert len((ROOT / "CHANGELOG.md").read_text("utf-8").split()) <= 600


def test_every_field_of_a_run_is_explained():
    text = (ROOT / "docs" / "records.md").read_text("utf-8")
    for kind in (Launch, Record, Failure, Close):
        for field in kind.__struct_fields__:
            assert f"`{field}`" in text, f"{kind.__name__}.{field}"


def test_decisions_are_numbered_in_a_row():
    names = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [name[:4] for name in names] == [f"{n:04d}" for n in range(1, len(names) + 1)]
    for name in names:
        heading = (ROOT / "docs" / "decisions" / name).read_text("utf-8").splitlines()[0]
        assert heading.startswith(f"# {int(name[:4])}. "), name


def test_pictures_are_small():
    for path in (ROOT / "docs" / "images").iterdir():
        assert path.suffix == ".png" and path.stat().st_size < 200_000, path


def test_the_messages_in_troubleshooting_are_hockneys():
    """Each quoted message, cut at placeholders (`...`, N, one example), is in the sources."""
    paths = (*(ROOT / "engine").rglob("*.[ch]pp"), *modules(ROOT / "hockney"))
    sources = " ".join(path.read_text("utf-8") for path in paths)
    sources = re.sub(r'"\s*\n?\s*f?"', "", sources)
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(messages) > 20
    for message in messages:
        pieces = re.split(
            r"\.\.\.|: |\bN\b|\d+|'g\+\+'|MPICH|Open MPI|libmpi\.so|timing, repetition|killed,|[();]", message
        )
        pieces = [piece.strip(" ,;()'") for piece in pieces]
        for piece in pieces:
            assert len(piece) < 5 or piece in sources, (message, piece)


def test_every_algorithm_of_a_collective_is_listed():
    listed: dict[str, list[str]] = {}
    operation = ""
    for named, algorithm in re.findall(
        r"^\| (?:`(\w+)`)? ?\| `(\w+)` \|",
        (ROOT / "docs" / "collectives.md").read_text("utf-8"),
        re.MULTILINE,
    ):
        operation = named or operation
        listed.setdefault(operation, []).append(algorithm)
    there = {
        workload.name: sorted(set(parameter.choices) - {"mpi"})
        for workload in bundled_catalog().with_role("collective")
        for parameter in workload.parameters
        if parameter.name == "algorithm"
    }
    assert {operation: sorted(names) for operation, names in listed.items()} == there
