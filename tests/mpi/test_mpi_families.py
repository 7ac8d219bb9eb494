# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every family of MPI is one file: those that are there, and another one that a test adds."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from itertools import combinations

import pytest
from scripts import script

from hockney import mpi as package
from hockney.api.run_options import mpi_help
from hockney.core.errors import EnvironmentProblem
from hockney.core.launcher_options import parse_launcher_options
from hockney.core.layout import Cores
from hockney.core.machine import Mpi
from hockney.discovery.find import find_mpi
from hockney.discovery.mpi_settings import _launch_pattern, mpi_settings
from hockney.launch.command import command
from hockney.launch.launch_test import find_contradiction
from hockney.launch.launcher import Hello
from hockney.mpi import (
    UNKNOWN,
    MpiFamily,
    families,
    families_by_precedence,
    family_named,
    family_of,
    title_of,
)

MODULES = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
CACHES = (
    package.family_named,
    package.families,
    package.families_by_precedence,
    package.all_arguments,
    _launch_pattern,
)
DERIVED = """
from hockney.mpi.mpich import Mpich


class Derived(Mpich):
    name = "derived"
    title = "Derived MPI"
    order = 4
    precedence = 3
    names = ()
    wheels = ()
    library_signs = ("Derived MPI",)
    setting_prefixes = ("DERIVED_",)
    ignored_settings = "DERIVED_RANK"

    def parse_version(self, macros):
        return macros.get("DERIVED_VERSION")

    def is_launcher(self, output):
        return "Derived" in output

    def progress_thread(self, mpi):
        return None


FAMILY = Derived()
"""


def of(family: str, version: str = "1.0") -> Mpi:
    return Mpi(family=family, version=version, prefix="/p", mpicxx="c", mpiexec="mpiexec", source="option")


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_a_family(module):
    family = importlib.import_module(f"hockney.mpi.{module}").FAMILY
    assert isinstance(family, MpiFamily) and family.name == module and family.title
    assert family is family_named(module) is family_of(of(module))
    members = {name for name in vars(type(family)) if not name.startswith("__")}
    assert members <= set(dir(MpiFamily)), "what no other code would use"


def test_families_have_an_order():
    orders = [family.order for family in families() if family.names]
    assert len(set(orders)) == len(orders)
    assert sorted(family.name for family in families()) == MODULES
    names = [name for family in families() for name in family.names]
    assert len(set(names)) == len(names)
    recognising = [family for family in families_by_precedence() if family.library_signs]
    precedences = [family.precedence for family in recognising]
    assert precedences == sorted(precedences, reverse=True)
    assert equal_precedences(recognising) == []


def equal_precedences(recognising: Sequence[MpiFamily]) -> list[str]:
    """What to change: families that may recognise the same text in no certain order."""
    return [
        f"{first.name} and {second.name} both have precedence {first.precedence}"
        for first, second in combinations(recognising, 2)
        if first.precedence == second.precedence
    ]


def test_families_with_the_same_precedence_are_named(derived, monkeypatch):
    monkeypatch.setattr(type(derived), "precedence", family_named("openmpi").precedence)
    assert equal_precedences([derived, *map(family_named, ("mpich", "openmpi"))]) == [
        "derived and openmpi both have precedence 2"
    ]


def test_a_wheel_comes_with_a_name():
    assert all(family.names for family in families() if family.wheels)
    assert all(family.names[0] == family.name for family in families() if family.names)


def test_the_family_of_a_later_hockney_is_unknown():
    for name in ("novel", "", "../x", "mpich.x"):
        assert family_of(of(name)).name == UNKNOWN
    assert title_of(of("novel", "3.0")) == "unknown MPI 3.0" and title_of(of("mpich", "")) == "MPICH"


@pytest.fixture
def derived(tmp_path, monkeypatch):
    """The package with one more file, for an MPI derived from MPICH."""
    (tmp_path / "derived.py").write_text(DERIVED)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    for cache in CACHES:
        cache.cache_clear()
    yield family_named("derived")
    for cache in CACHES:
        cache.cache_clear()
    sys.modules.pop("hockney.mpi.derived", None)


def test_a_named_family_without_wheels(derived, monkeypatch):
    """It is in the help of --mpi, and if it is not installed, a path is what the user can give."""
    monkeypatch.setattr(type(derived), "names", ("derived",))
    families.cache_clear()
    assert mpi_help().endswith(" openmpi, mpich, intel, derived.")
    for environ in ({"PATH": ""}, {"PATH": "", "HOCKNEY_MPI": "derived"}):
        with pytest.raises(EnvironmentProblem) as caught:
            find_mpi("" if "HOCKNEY_MPI" in environ else "derived", environ)
        assert (caught.value.code, caught.value.fields) == ("mpi-not-installed", {"title": "Derived MPI"})


def test_another_family_is_one_file(derived, tmp_path):
    """It is recognised where MPICH's header, settings and texts overlap with its own, and starts ranks."""
    prefix = tmp_path / "prefix"
    (prefix / "include").mkdir(parents=True)
    header = '#define MPICH_VERSION "3.4a2"\n#define DERIVED_VERSION "3.0"\n'
    (prefix / "include" / "mpi.h").write_text(header)
    script(prefix / "bin" / "mpicxx", f"echo c++ -I{prefix}/include")
    script(prefix / "bin" / "mpiexec", "echo 'HYDRA build details: Derived'")
    found = find_mpi(str(prefix), {"PATH": ""})
    assert (found.family, found.version, title_of(found)) == ("derived", "3.0", "Derived MPI 3.0")

    user = parse_launcher_options("", ("DERIVED_EAGER=8",))
    made = command(found, ("e",), 2, Cores((0, 1), (0, 1), 2), environ={}, user=user)
    assert made.words[1:] == ("-n", "2", "-bind-to", "core", "-genv", "DERIVED_EAGER", "8", "e")
    assert mpi_settings({"DERIVED_EAGER": "8", "DERIVED_RANK": "0"}, found) == {"DERIVED_EAGER": "8"}

    hellos = [Hello(rank=rank, size=2, host="h", library="Derived MPI 3.0, MPICH 3.4") for rank in (0, 1)]
    assert find_contradiction(found, 2, hellos) is None
    foreign = find_contradiction(of("openmpi"), 2, hellos)
    assert foreign is not None and "Derived MPI" in foreign.what
    assert family_of(found).progress_thread(found) is None and family_of(found).eager_limit(found, 4096)
