# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of OSU's and IMB's benchmarks: each is a case that the catalogs accept, or has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney import measurement
from hockney.core.errors import UsageError
from hockney.pages.evidence import Options
from hockney.reference.peers import find_benchmark, suites
from hockney.reference.peers.page import page
from hockney.studies import ad_hoc
from hockney.system.bundled import bundled_catalog, catalog_with

BENCHMARKS = [each for suite in suites() for each in suite.benchmarks]
EQUIVALENT = [each for each in BENCHMARKS if each.case]
PROGRAMS = ("IMB-MPI1", "IMB-NBC", "IMB-EXT", "IMB-RMA", "IMB-IO", "IMB-MT", "IMB-P2P")


def cases_of(line: str):
    catalog = catalog_with(bundled_catalog(), {line.split()[0]})
    return ad_hoc.plan(Options(cases=(line,)), catalog, measurement.prepare("fake").machine)


@pytest.mark.parametrize("suite", suites(), ids=lambda suite: suite.title)
def test_every_equivalent_is_a_case(suite):
    for each in suite.benchmarks:
        if each.case:
            cases = cases_of(each.line())
            assert {case.workload for case in cases} == {each.case.split()[0]}, each
            if each.sizes:
                assert len(cases) > 3 and len({case.bytes for case in cases}) == len(cases), each
            else:
                assert len(cases) == 1, each


def test_a_benchmark_has_a_case_or_a_reason_and_a_way_out():
    for each in BENCHMARKS:
        assert bool(each.case) != bool(each.reason and each.instead), each
        assert not (each.close and not each.case), each


def test_each_name_is_there_once_however_it_is_written():
    assert len({each.name.lower() for each in BENCHMARKS}) == len(BENCHMARKS)
    for each in EQUIVALENT:
        assert (
            find_benchmark(each.name)[0]
            == find_benchmark(each.name.upper())[0]
            == find_benchmark(f" {each.name.lower()} ")[0]
            == each
        )


def test_no_reduction_has_a_size_of_less_than_a_double():
    summing = ("reduce", "accumulate", "scan")
    for each in EQUIVALENT:
        if each.sizes and any(word in each.case for word in summing):
            assert all(case.bytes % 8 == 0 for case in cases_of(each.line())), each


def test_the_programs_of_both_suites_are_there():
    names = {each.name for each in BENCHMARKS}
    assert {name.partition("/")[0] for name in names if "/" in name} >= set(PROGRAMS)
    assert {"osu_latency", "osu_mbw_mr", "osu_ineighbor_alltoallw", "osu_reduce_scatter_persistent"} <= names


def test_a_path_and_a_name_without_its_program_are_understood():
    assert find_benchmark("./c/mpi/pt2pt/standard/osu_latency")[0].name == "osu_latency"
    assert find_benchmark("osu-latency")[0].name == "osu_latency"
    assert find_benchmark("Ialltoall_pure")[0].name == "IMB-NBC/Ialltoall_pure"
    assert find_benchmark("IMB-MPI1 pingpong")[0].name == "IMB-MPI1/PingPong"


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("osu_allgaterv", "osu_allgatherv"),
        ("IMB-RMA/Unidirput", "IMB-RMA/Unidir_put"),
        ("ialtoall_pure", "IMB-NBC/Ialltoall_pure"),
        ("PingPong", "IMB-MPI1/PingPong"),  # which IMB-P2P has as well
        ("xyz", ""),
    ],
)
def test_a_near_miss_gets_a_suggestion(typed, suggested):
    with pytest.raises(UsageError) as raised:
        find_benchmark(typed)
    assert (raised.value.code, raised.value.suggestion) == ("unknown-benchmark", suggested)


@pytest.mark.parametrize("name", ["osu_xccl_bw", "osu_nccl_allreduce", "IMB-MPI1-GPU/PingPong", "osu_init"])
def test_one_without_an_equivalent_is_refused_with_its_reason(name):
    with pytest.raises(UsageError) as raised:
        find_benchmark(name)
    assert raised.value.code == "no-equivalent"
    assert raised.value.fields["name"] == name and raised.value.fields["reason"]


def test_parameters_replace_those_of_the_benchmark():
    benchmark, _ = find_benchmark("osu_bw")
    assert benchmark.line({"window": "16", "bytes": "8"}) == "stream window=16 bytes=8"
    assert "bytes" not in benchmark.line(sizes=False)


def test_the_page_is_fresh():
    path = Path(__file__).parents[2] / "docs" / "reference" / "peers.md"
    assert path.read_text() == page(), (
        "make it again: python -m hockney.reference.peers.page > docs/reference/peers.md"
    )
