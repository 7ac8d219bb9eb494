# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each MPI lacks: found by its header and a small program, kept in the cache, listed by the doctor."""

from __future__ import annotations

import re

import pytest
from made_up import made_up_mpi
from real_mpi import mpi_named
from scripts import script

from hockney import build
from hockney.core.errors import EnvironmentProblem
from hockney.measurement.abilities import find_abilities
from hockney.measurement.doctor import ability_findings, is_root, unknown_abilities_finding
from hockney.mpi import title_of
from hockney.system.bundled import bundled_catalog, bundled_groups, catalog_with

NAMED = re.compile(r'(?:HOCKNEY_ABILITY|print)\("([^"]+)",\s*"([^"]+)",')


def groups() -> dict[str, set[str]]:
    """The workloads of each group, by the name that the list has for it."""
    return {
        catalog.workloads[0].group.removeprefix("hockney-"): {w.name for w in catalog.workloads}
        for catalog in bundled_groups()
    }


def named() -> dict[str, str]:
    folder = build.source_folder() / "abilities"
    text = "".join((folder / name).read_text() for name in ("list.inc", "abilities.cpp"))
    return dict(NAMED.findall(text))


def test_what_is_refused_is_a_group_or_a_case():
    assert len(named()) >= 10
    for refused in named().values():
        for word in refused.split(", "):
            if word not in groups():
                catalog_with(bundled_catalog(), {word.split()[0]}).case(word)


@pytest.mark.mpi
def test_a_real_one_has_everything_and_the_second_time_it_is_known(tmp_path):
    environ = {"HOCKNEY_CACHE": str(tmp_path)}
    mpi = mpi_named("openmpi")
    first, again = (find_abilities(mpi, environ, is_root()) for _ in range(2))
    assert (first.cached, again.cached) == (False, True)
    assert first.known == again.known and {each.what for each in first.known} == set(named())
    assert not first.missing  # Open MPI 5 with its usual components


@pytest.mark.mpi
def test_the_doctor_lists_every_mpi_with_what_it_refuses(tmp_path):
    mpi = mpi_named("openmpi")
    findings = list(ability_findings(mpi, {"HOCKNEY_CACHE": str(tmp_path), "PATH": "/usr/bin:/bin"}))
    assert findings[0].subject == title_of(mpi) and findings[0].code == "mpi-complete"
    assert findings[0].numbers["lacks"] == [] and findings[0].numbers["mpicxx"] == mpi.mpicxx
    for finding in findings[1:]:
        assert finding.code in ("mpi-complete", "mpi-lacks")
        assert (finding.numbers["lacks"] == []) == (finding.code == "mpi-complete")


def test_a_wrapper_that_fails_is_reported(tmp_path):
    wrapper = script(tmp_path / "bin" / "mpicxx", "echo 'no compiler here' >&2\nexit 1")
    broken = made_up_mpi("mpich", "9", tmp_path, mpicxx=str(wrapper))
    with pytest.raises(EnvironmentProblem) as raised:
        find_abilities(broken, {"HOCKNEY_CACHE": str(tmp_path / "cache")})
    assert raised.value.code == "abilities-unknown" and "no compiler here" in str(raised.value)
    assert unknown_abilities_finding(title_of(broken), raised.value).verdict == "note"
