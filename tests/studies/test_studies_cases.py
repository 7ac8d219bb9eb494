# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ad-hoc cases: lists are expanded, names are checked, the page shows each case."""

import pytest
from msgspec import structs

from hockney import measurement, studies
from hockney.core.errors import UsageError
from hockney.machines import simulated
from hockney.studies import Options
from hockney.system.bundled import catalog_with

CATALOG = measurement.bundled_catalog()
MACHINE = measurement.fake_bench("fake").machine


def lines(*cases: str, **options) -> list[str]:
    return [
        c.line for c in studies.find_study("cases").plan(Options(cases=cases, **options), CATALOG, MACHINE)
    ]


def test_lists_are_spread_out():
    assert lines("pingpong bytes=0:2") == [f"pingpong buffers=hot bytes={b} ranks=2" for b in (0, 1, 2)]
    barriers = [f"barrier algorithm=mpi iterations=1 ranks={p} sync=barrier" for p in (2, 4)]
    assert lines("barrier ranks=2,4") == barriers
    assert lines("compute work=100us,0.002 ranks=1") == [
        f"compute ranks=1 sync=barrier work={t}" for t in (0.0001, 0.002)
    ]
    assert len(lines("bcast bytes=8,16 ranks=1:4", "bcast bytes=8 ranks=2")) == 6, "each once"


@pytest.mark.parametrize(
    ("case", "name", "values"),
    [
        ("barrier algorithm=mpi,dissemination", "algorithm", ["mpi", "dissemination"]),
        ("granularity shares=equal,3:1,uniform:0.2", "shares", ["equal", "3:1", "uniform:0.2"]),
        ("granularity iterations=5,2", "iterations", [2, 5]),
        ("granularity iterations=1:8", "iterations", [1, 2, 4, 8]),
        ("granularity work=10us:1ms", "work", [1e-05, 3e-05, 0.0001, 0.0003, 0.001]),
        ("granularity serial=0,0.25", "serial", [0, 0.25]),
        ("prtt delay=5us,1us", "delay", [1e-6, 5e-6]),
        ("pingpong bytes=4KiB,8:16", "bytes", [8, 16, 4096]),
        ("pingpong buffers=hot,cold,hot", "buffers", ["hot", "cold"]),
    ],
)
def test_parameters_of_every_kind_take_lists(case, name, values):
    cases = studies.find_study("cases").plan(Options(cases=(case,)), CATALOG, MACHINE)
    assert [c[name] for c in cases] == values


def test_ranges_skip_sizes_that_a_workload_cannot_have():
    def sizes(*cases: str, **options) -> list[int]:
        planned = studies.find_study("cases").plan(Options(cases=cases, **options), CATALOG, MACHINE)
        return [case.bytes for case in planned]

    assert sizes("allreduce bytes=0:32") == [0, 8, 16, 32]
    assert sizes("allreduce", "bcast", sizes=(4, 8)) == [8, 4, 8]


@pytest.mark.parametrize(
    ("case", "sizes"), [("allreduce bytes=6", ()), ("allreduce bytes=1:4", ()), ("allreduce", (1, 4))]
)
def test_a_size_that_a_workload_cannot_have_is_an_error_if_named_or_the_only_one(case, sizes):
    with pytest.raises(UsageError) as caught:
        lines(case, sizes=sizes)
    assert caught.value.code == "not-a-multiple"


def test_options_hold_where_a_case_names_none():
    assert lines("bcast", ranks=(4,), sizes=(8, 16)) == [
        f"bcast algorithm=mpi buffers=hot bytes={b} ranks=4 root=0 sync=barrier" for b in (8, 16)
    ]
    assert lines("bcast bytes=1 ranks=2", ranks=(4,), sizes=(8, 16)) == [
        "bcast algorithm=mpi buffers=hot bytes=1 ranks=2 root=0 sync=barrier"
    ]


def test_a_simulated_machine_computes_at_its_own_rate_unless_a_case_has_one():
    catalog = catalog_with(CATALOG, ("ep", "cg"))

    def rates(name):
        machine = structs.replace(MACHINE, platform=simulated.platform(name))
        asked = Options(cases=("ep", "cg rate=0,5", "pingpong bytes=8"))
        return [case.get("rate") for case in studies.find_study("cases").plan(asked, catalog, machine)]

    assert rates("switched-ethernet") == [0.4e6, 20e6, 5, None]
    assert rates("t3e") == [600e6, 600e6, 5, None], "it has no rates, but the speed of a core"


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "Ping",
        "pingpong 8",
        "pingpong bytes=",
        "pingpong bytes=-1",
        "compute work=1ms,,2ms",
        "pingpong bytes=1e99",
        "pingpong ranks=3",
        "pingpong bytes=8 bytes=9",
        "pingpong ranks=2:x",
        "barrier ranks=0",
        "bcast root=x",
        "bcast root=nan",
        "prtt delay=-1us",
        "prtt delay=1y",
        "prtt messages=1.5",
        "pingpong buffers=warm",
        "bcast bytes=4:2",
        "nothing",
    ],
)
def test_malformed_cases_are_usage_errors(bad):
    with pytest.raises(UsageError):
        lines(bad)


def test_no_case_and_too_many_are_refused():
    with pytest.raises(UsageError) as caught:
        lines()
    assert caught.value.code == "no-case"
    many = ",".join(str(k) for k in range(1000))
    ranks = ",".join(str(k) for k in range(1, 1000))
    with pytest.raises(UsageError) as caught:
        lines(f"bcast bytes={many} ranks={ranks}")
    assert caught.value.code == "line-lists-too-many-cases"


def test_unknown_studies_get_did_you_mean():
    with pytest.raises(UsageError) as caught:
        studies.find_study("surwey")
    assert caught.value.code == "unknown-study"
    assert set(studies.all_studies()) >= {"survey", "cases"}
