# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Imports go down only, packages of the same layer do not import each other, one package starts processes; in
both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from layers import (
    ENGINE,
    GROUPS,
    OFFERED,
    PLUG_INS,
    PURE,
    PYTHON,
    climbing,
    engine_includes,
    modules,
    python_imports,
    starting,
)

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "hockney"


def packages(folder: Path, *suffixes: str) -> set[str]:
    return {p.parent.relative_to(folder).parts[0] for s in suffixes for p in folder.glob(f"*/**/*{s}")}


def test_every_package_is_in_a_layer():
    assert packages(PACKAGE, ".py") == set(PYTHON)
    assert packages(ROOT / "engine", ".cpp", ".hpp") <= set(ENGINE)


def test_python_imports_go_down():
    found = list(python_imports(PACKAGE))
    assert len(found) > 100, "the walker sees nothing"
    assert climbing(iter(found), PYTHON) == []


ASKING = ("studies/", "pages/", "reproductions/")
OF_SUITES = re.compile(r"suites/\w+/(?!fakes/|predictions/)").match
"""What suites have, except times on the fake machine, and predictions from stored runs."""


def test_studies_only_ask_and_answer():
    used = [each for each in python_imports(PACKAGE) if each.file.startswith(ASKING) or OF_SUITES(each.file)]
    assert len({each.source for each in used}) == len(ASKING) + len(
        list((PACKAGE / "suites").glob("*/__init__.py"))
    )
    assert [str(each) for each in used if each.target not in (*PURE, "studies")] == []


def test_core_imports_no_package():
    assert [str(each) for each in python_imports(PACKAGE) if each.source == "core"] == []


def test_one_package_starts_processes():
    assert starting(PACKAGE) == []
    assert starting(PACKAGE, allowed="nobody"), "the walker would not see what does"


def test_engine_includes_go_down():
    found = list(engine_includes(ROOT / "engine"))
    assert len(found) > 60, "the walker sees nothing"
    assert climbing(iter(found), ENGINE) == []


def test_plug_ins_files_do_not_know_each_other():
    found = [each for each in engine_includes(ROOT / "engine") if each.source in PLUG_INS]
    in_plug_ins = [each for each in found if each.target in PLUG_INS and each.what not in OFFERED]
    own = [each for each in in_plug_ins if Path(each.file).with_suffix(".hpp").as_posix() == each.what]
    # what several files of a folder share is in a header without a .cpp of its name, or in a group's folder
    common = [
        each
        for each in in_plug_ins
        if each.source == each.target
        and (
            (each.source in GROUPS and each.what.count("/") > 1)
            or not (ROOT / "engine" / each.what).with_suffix(".cpp").exists()
        )
    ]
    assert [str(each) for each in in_plug_ins if each not in own + common] == []


def test_engine_includes_name_files_with_their_folder():
    """So that the walker handles every one of them."""
    for each in engine_includes(ROOT / "engine"):
        assert (ROOT / "engine" / each.what).is_file(), str(each)


FAMILIES = tuple(sorted(path.stem for path in (PACKAGE / "mpi").glob("*.py") if path.stem != "__init__"))
ORDINARY_WORDS = ("unknown", "smpi")
"""Families whose names are also words, or a folder of SimGrid's."""
PREFIXES = re.compile(r"\b(OMPI|OPAL|ORTE|PRTE|MPICH|MPIR|HYDRA|MV2|MVP|I_MPI)_")
"""Of variables that control one family."""
NAMED = re.compile(f"{'|'.join(FAMILIES)}|{PREFIXES.pattern}")
NAMING_FAMILIES = {
    "api/run_options.py": "the help of an option has an example",
    "core/launch_setting.py": "the remedy of an error has an example",
    "core/smpi_algorithms.py": "SimGrid's names for the algorithms that it copied from other MPIs",
    "launch/fake_world.py": "the machine with made-up costs has a variable of its own",
    "discovery/simgrid.py": "finds SimGrid, which no name given to --mpi means",
    "models/tuning/openmpi.py": "the numbers of Open MPI's algorithms, and its file of rules",
    "studies/progress.py": "sets the variable of the machine with made-up costs",
}
"""Files outside of hockney/mpi that may name a family, and why."""


def families_named(source: str) -> Iterator[str]:
    """Names of families and of their variables in the texts of a module, except docstrings, its imports of
    families, and its comparisons of a family with ordinary words."""
    if not NAMED.search(source):  # which most modules need not be parsed for
        return
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            if node.value in set(FAMILIES) - {*ORDINARY_WORDS} or PREFIXES.search(node.value):
                yield f"{node.lineno}: '{node.value}'"
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
            yield from (f"{node.lineno}: {name}" for name in FAMILIES if f"hockney.mpi.{name}" in names)
        elif isinstance(node, ast.Compare):
            compared = list(ast.walk(node))
            of_family = any(getattr(part, "attr", "") == "family" for part in compared)
            if of_family and any(getattr(part, "value", "") in ORDINARY_WORDS for part in compared):
                yield f"{node.lineno}: a family is compared with a name"


def test_a_family_of_mpi_is_named_in_its_file_only():
    found = {
        path.relative_to(PACKAGE).as_posix(): list(families_named(path.read_text("utf-8")))
        for path in modules(PACKAGE)
        if path.parent != PACKAGE / "mpi"
    }
    named = {file: places for file, places in found.items() if places}
    assert {file: places for file, places in named.items() if file not in NAMING_FAMILIES} == {}
    assert set(NAMING_FAMILIES) <= set(named), "these no longer name a family"


@pytest.mark.parametrize(
    "source",
    [
        "x = {'openmpi': 1}",
        "if mpi.family == 'smpi': pass",
        "if mpi.family in ('unknown', 'smpi'): pass",
        "x = f'OMPI_MCA_{name}'",
        "x = {'I_MPI_PIN': '1'}",
        "x = 'MPIR_CVAR_ASYNC_PROGRESS'",
        "from hockney.mpi import intel",
        "from hockney.mpi.mpich import FAMILY",
    ],
)
def test_the_walker_sees_a_family_that_is_named(source):
    assert len(list(families_named(source))) == 1
    assert list(families_named(f'"""{source}"""')) == []


def test_the_walker_sees_no_family_elsewhere():
    assert list(families_named("from hockney.mpi import family_of\nx = 'unknown', 'MPI_Init', 'OMP_X'")) == []


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / (name if name.startswith("__") else name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


UPWARD = (
    "from hockney.cli.verbs import app",
    "import hockney.cli.verbs",
    "import hockney.cli.verbs as above",
    "from hockney import cli",
    "from ..cli import app",
    "def late():\n    from hockney.cli import app",
    "import importlib\nimportlib.import_module('hockney.cli.verbs')",
    "try:\n    import hockney.measurement\nexcept ImportError:\n    pass",
    "from hockney import report, core",
)


@pytest.mark.parametrize("text", UPWARD)
def test_the_walker_sees_an_import_that_goes_up(tmp_path, text):
    package = tmp_path / "hockney"
    for package_name in ("core", "cli", "models", "measurement", "report"):
        write(package, **{f"{package_name}__x.py": "import hockney.core\n"})
    write(package, **{"__init__.py": "", "models__x.py": "import os\nfrom hockney.core import x\n"})
    assert climbing(python_imports(package), PYTHON) == []
    write(package, **{"models__x.py": text + "\n"})
    found = climbing(python_imports(package), PYTHON)
    assert len(found) == 1 and found[0].startswith("models/x.py:") and "models uses" in found[0]


def test_nothing_imports_a_suite_and_suites_import_the_core(tmp_path):
    package = tmp_path / "hockney"
    write(package, **{"suites__a__x.py": "from hockney.api import y\nfrom hockney.suites.a import z\n"})
    write(package, **{"api__y.py": "", "suites__b__x.py": "", "cli__x.py": ""})
    assert climbing(python_imports(package), PYTHON) == []
    for file in ("suites__b__x.py", "cli__x.py", "api__y.py"):
        write(package, **{file: "from hockney.suites.a import x\n"})
    assert len(climbing(python_imports(package), PYTHON)) == 3


def test_the_front_door_offers_names_of_two_packages(tmp_path):
    package = tmp_path / "hockney"
    for package_name in ("api", "cli", "core", "measurement"):
        write(package, **{f"{package_name}__x.py": ""})
    write(package, **{"__init__.py": "from hockney.core import x\nfrom hockney.api.x import y\n"})
    assert climbing(python_imports(package), PYTHON) == []
    write(package, **{"__main__.py": "from hockney.cli import main\n"})
    assert climbing(python_imports(package), PYTHON) == []
    write(package, **{"__init__.py": "from hockney.measurement.x import y\nfrom hockney.cli import x\n"})
    assert len(climbing(python_imports(package), PYTHON)) == 2


def test_the_walker_sees_neighbors_meet_and_packages_without_a_layer(tmp_path):
    package = tmp_path / "hockney"
    write(
        package, **{"build__x.py": "from hockney.launch import y\n", "launch__y.py": "import hockney.attic\n"}
    )
    write(package, **{"attic__z.py": ""})
    meet, attic = climbing(python_imports(package), PYTHON)
    assert "build uses launch" in meet and "attic is in no layer" in attic


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import run",
        "import os\nos.execvp('a', ['a'])",
        "import os\nos.fork()",
        "from os import posix_spawn",
        "import pty",
        "import os\nos.system('a')",
        "from concurrent.futures import ProcessPoolExecutor",
        "import asyncio\nasyncio.create_subprocess_exec('a')",
    ],
)
def test_the_walker_sees_processes_started(tmp_path, text):
    package = write(
        tmp_path / "hockney",
        **{"measurement__x.py": text, "process__run.py": text, "core__x.py": "import os"},
    )
    found = starting(package)
    assert found and all(line.startswith("measurement/x.py:") for line in found)


def test_the_walker_sees_includes_that_go_up(tmp_path):
    fine = '#include <mpi.h>\n#include "base/json.hpp"\n'
    write(tmp_path, **{"comm__comm.cpp": fine, "patterns__a.cpp": '#include "measure/pair_base.hpp"\n'})
    assert climbing(engine_includes(tmp_path), ENGINE) == []
    write(tmp_path, **{"base__json.hpp": '#pragma once\n  #  include "comm/comm.hpp"\n'})
    write(tmp_path, **{"sync__tree.cpp": '#include "coll/bcast.hpp"\n'})
    base, sync = climbing(engine_includes(tmp_path), ENGINE)
    assert base.startswith("base/json.hpp:2:") and "sync uses coll" in sync
    write(tmp_path, **{"patterns__a.cpp": '#include "patterns/b.hpp"\n'})
    plug_ins = [e for e in engine_includes(tmp_path) if e.source == e.target == "patterns"]
    assert len(plug_ins) == 1
