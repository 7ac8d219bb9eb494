# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The recording library has every function of the MPI libraries, and the list of the standard's functions is
the standard's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fortran import fortran_mpi
from needs import need_module
from recorded import mpi_libraries

from hockney import process
from hockney.build.identity import PROFILE, source_folder
from hockney.profiles import interposition

PREDEFINED = {
    f"mpi_{name}"
    for name in (
        "comm_dup_fn", "comm_null_copy_fn", "comm_null_delete_fn", "conversion_fn_null",
        "conversion_fn_null_f", "dup_fn", "null_copy_fn", "null_delete_fn", "type_dup_fn",
        "type_null_copy_fn", "type_null_delete_fn", "win_dup_fn", "win_null_copy_fn", "win_null_delete_fn",
    )
}  # fmt: skip
"""Functions that a program passes to MPI, in lower case."""


def functions_of(library: Path) -> set[str]:
    """The functions of MPI that a library exports, by nm."""
    done = process.capture(["nm", "-D", "--defined-only", str(library)], timeout=60)
    assert done.ok, done.err
    rows = (line.split() for line in done.out.splitlines())
    names = {row[-1].partition("@")[0] for row in rows if row[-2] in "TWVi"}
    return {name for name in names if re.match(r"mpix?_", name, re.IGNORECASE)}


def check(libraries: list[Path]) -> None:
    theirs = set.union(*map(functions_of, libraries))
    ours = functions_of(interposition.build(libraries))
    missing = theirs - ours
    assert {name for name in missing if not name.startswith("mpi_sizeof_")} == {
        name for name in theirs if name.lower().rstrip("_") in PREDEFINED
    }
    assert ours <= theirs
    assert len(ours) > 450


@pytest.mark.compiler
@pytest.mark.mpich
def test_every_function_of_an_mpi_has_a_wrapper(mpi):
    check(mpi_libraries(mpi))


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_every_function_for_fortran_has_a_wrapper(family):
    libraries = fortran_mpi(family).libraries
    check(libraries)
    symbols = interposition.recorded_symbols(libraries)
    names = interposition.functions(symbols)
    places = {name.lower(): place for place, name in enumerate(names)}
    forms = {
        "mpi_send_": ("Send", "fortran"),
        "mpi_wtime_": ("Wtime", "fortran"),
        "mpi_waitall__": ("Waitall", "fortran"),
        "MPI_COMM_SPLIT": ("Comm_split", "fortran"),
        "mpi_comm_rank_f08_": ("Comm_rank", "fortran_2008"),
        "MPI_Comm_c2f": ("Comm_c2f", "c"),
    }
    forms |= {
        "openmpi": {
            "mpi_isend_f08_": ("Isend", "fortran_2008"),
            "mpi_win_allocate_cptr_": ("Win_allocate", "fortran"),
            "MPI_Win_allocate_cptr_f08": ("Win_allocate", "fortran_2008"),
            "mpi_aint_add_f90_": ("Aint_add", "fortran"),
        },
        "mpich": {"mpi_isend_f08ts_": ("Isend", "fortran_2008"), "MPI_Send_c": ("Send", "c")},
    }[family]
    for symbol, form in forms.items():
        if symbol in symbols:
            wrapper = interposition.wrapper_of(symbol, places)
            assert (names[wrapper.function], wrapper.language) == form
    assert len(forms.keys() & set(symbols)) >= 7


def letter(parameter: dict[str, Any]) -> str:
    """The kind of a parameter, as functions.txt writes it."""
    kind, several, out = parameter["kind"], bool(parameter["length"]), parameter["param_direction"] != "in"
    if kind == "DATATYPE":
        return "D" if several or parameter["name"].endswith("types") else "o" if out else "d"
    letters = {
        "COMMUNICATOR": "cC", "WINDOW": "wW", "FILE": "fF", "REQUEST": "qq", "STATUS": "ss", "MESSAGE": "mm",
        "BUFFER": "bb", "C_BUFFER": "bb",
    }  # fmt: skip
    if kind in letters:
        return letters[kind][out].upper() if several and kind in ("REQUEST", "STATUS") else letters[kind][out]
    if kind.startswith(("POLYXFER", "POLYDTYPE_NUM")):
        return "N" if several else "n"
    if kind.startswith("XFER_NUM"):
        return "h"
    numbers = (
        "RANK", "RANK_NNI", "TAG", "PARTITION", "ARRAY_LENGTH", "ARRAY_LENGTH_NNI", "INDEX", "LOGICAL",
        "PROFILE_LEVEL",
    )  # fmt: skip
    if kind in numbers:
        return "I" if several else "o" if out else "i"
    return "x"


def standard() -> list[dict[str, Any]]:
    """The functions of the MPI standard."""
    package = Path(need_module("pympistandard").__file__).parent
    functions = json.loads((package / "data" / "apis.json").read_text(encoding="utf-8"))
    return [
        function
        for function in sorted(functions.values(), key=lambda function: function["name"])
        if function["name"].startswith("MPI_")
        and not function["attributes"]["callback"]
        and not function["attributes"]["predefined_function"]
    ]


def test_the_list_of_functions_is_that_of_the_standard():
    lines = []
    for function in standard():
        given = [
            p for p in function["parameters"] if "c_parameter" not in p["suppress"] and p["kind"] != "VARARGS"
        ]
        name = function["name"].removeprefix("MPI_") + (
            "" if function["return_kind"] == "ERROR_CODE" else "*"
        )
        lines.append(" ".join([name, *(f"{p['name']}:{letter(p)}" for p in given)]))
    written = (source_folder() / PROFILE / "functions.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in written if not line.startswith("#")] == lines


def test_the_places_of_error_codes_in_fortran_are_those_of_the_standard():
    known = {function.name: function for function in interposition.standard_functions()}
    for function in standard():
        if not function["attributes"]["f90_expressible"] or function["return_kind"] != "ERROR_CODE":
            continue
        given = [p["name"] for p in function["parameters"] if "f90_parameter" not in p["suppress"]]
        place = given.index("ierror") if "ierror" in given else -1
        name = function["name"].removeprefix("MPI_")
        if name in known:
            assert known[name].fortran_error == place, name
