# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every tutorial and some other pages are executed: their commands run, and print the output on the page.

A page's first line may give its machine: `<!-- machine: real, mpi: openmpi -->`, or simulated. The default is
the fake one, whose costs are known; on a real one a number matches any number. Real ones use 2 ranks, and
budgets that a busy machine may exceed: then hockney exits with 4, and the output is another.
"""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

import pytest
from console import Step, matches, run, steps
from real_mpi import engine_for, mpi_named, simgrid_here

from hockney.core.errors import ExitCode

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STUDIES = ("studies/overlap", "studies/pairs", "studies/nodes", "studies/congestion")
OTHERS = ("published", "comparing", "regression", "import", "levels", *STUDIES)
PAGES = [
    *sorted((DOCS / "tutorials").glob("*.md")),
    *(DOCS / f"{name}.md" for name in OTHERS),
    *(ROOT / "hockney" / "suites").glob("annealing/docs/annealing.md"),
]
FAST = ("3-models",)
"""Executed in the fast tier."""
NEAR = 0.25
REAL = re.compile(r"<!-- machine: (?:real, mpi: )?(\w+) -->")
SIMULATED = "simulated"


def parameters():
    found = []
    for page in PAGES:
        real = REAL.match(page.read_text("utf-8"))
        marks = [pytest.mark.simgrid if real[1] == SIMULATED else pytest.mark.mpi] if real else []
        if page.stem not in FAST:
            marks.append(pytest.mark.slow)
        found.append(pytest.param(page, real[1] if real else "", id=page.stem, marks=marks))
    return found


def environment(mpi: str, folder: Path) -> dict[str, str]:
    bin_folder = str(Path(sys.executable).parent)
    path = os.pathsep.join([bin_folder, os.environ.get("PATH", "")])
    base = {k: v for k, v in os.environ.items() if k not in ("HOCKNEY_MACHINE", "HOCKNEY_MPI", "COLUMNS")}
    base |= {"PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    if not mpi:
        return base | {"HOCKNEY_MACHINE": "fake"}
    return base | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.parametrize(("page", "mpi"), parameters())
def test_the_tutorial_does_what_it_says(page, mpi, tmp_path):
    todo = steps(page.read_text("utf-8"))
    assert todo, "a tutorial shows commands"
    if mpi:
        prepare(mpi)
    seen = run(todo, tmp_path, environment(mpi, tmp_path), timeout=600)
    for place, (step, (code, out)) in enumerate(zip(todo, seen, strict=True)):
        where = f"{page.name}:{step.line}: $ {step.command}\n"
        assert "Traceback" not in out, where + out
        told = place + 1 < len(todo) and todo[place + 1].command == "echo $?"
        if code == ExitCode.INCONCLUSIVE and REAL.match(page.read_text("utf-8")):
            continue
        assert code == 0 or told, f"{where}exit code {code}\n{out}"
        assert matches(step.expected, out, math.inf if mpi not in ("", SIMULATED) else NEAR), f"{where}{out}"


def prepare(mpi: str) -> None:
    """Compile first, so that it does not appear in the page's output; skip if this MPI is not available."""
    engine_for(simgrid_here() if mpi == SIMULATED else mpi_named(mpi))


def test_pages_are_read_as_a_reader_does():
    page = "text\n```console\n$ one a\nout 1\n\n$ two\n```\n```sh\n$ no\n```\n"
    page += "```console\n$ three \\\n  b\nx\n```\n"
    assert steps(page) == [
        Step(3, "one a", "out 1\n\n"),
        Step(6, "two", ""),
        Step(12, "three \\\n  b", "x\n"),
    ]


def test_matching_is_strict_but_for_numbers_and_dots():
    assert matches("a  1.5 us ... end\n", "a 1.4 us\n1\n2 end", 0.25)
    assert not matches("a 1.5 us", "a 2.5 us", 0.25)
    assert matches("a 1.5 us", "a 9999 us", math.inf)
    assert not matches("a 1.5 us", "a 1.5 ns", math.inf)
    assert matches("0 us", "3 us", math.inf)
    assert not matches("", "something", math.inf)
    assert not matches("one\n", "one\ntwo\n", math.inf)
    assert matches("one\n...\n", "one\ntwo\nthree\n", math.inf)
    assert matches("one\n...\nend", "one\nend", 0) and matches("one\n...\nend", "one\n2\n3\nend", 0)
    assert matches("0 errors", "0 errors", 0.25) and not matches("0 errors", "1 errors", 0.25)
    assert matches("1e-06", "1.1e-06", 0.25) and not matches("bytes=8 x", "bytes=16 x", 0.25)


def test_a_shell_session_keeps_its_variables_and_codes(tmp_path):
    todo = steps("```console\n$ a=5; false\n$ echo $?\n1\n$ echo $a >&2\n5\n```\n")
    assert run(todo, tmp_path, dict(os.environ), 60) == [(1, ""), (0, "1\n"), (0, "5\n")]
