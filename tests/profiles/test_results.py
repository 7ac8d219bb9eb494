# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: headline, tables and document of a profile, intervals over launches, and two profiles
compared."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surveyed import fake_costs, fake_survey
from written import WORLD, Written, allreduces, folder_of, message, program

from hockney.cli.output.tables import columns_of
from hockney.core.errors import HockneyError
from hockney.profiles import columns
from hockney.profiles import rank_file as form
from hockney.profiles.compare import compare_profiles
from hockney.profiles.efficiencies import efficiencies
from hockney.profiles.live import read_live
from hockney.profiles.manifest import read_manifest
from hockney.profiles.page import page
from hockney.profiles.profile import Profile, read_profile
from hockney.profiles.results import ProfileResults, make_results
from hockney.report.render import render


def late_ranks(more: float = 0.02, end: float = 1.6, cost: float = 20e-6) -> list[Written]:
    ranks = program(4, end=end)
    allreduces(ranks, late=3, more=more, cost=cost)
    return ranks


def results(tmp_path: Path, *launches: list[Written], survey: bool = True, **more: object) -> ProfileResults:
    profile = read_profile(folder_of(tmp_path / "p", launches, **more))
    return make_results(profile, fake_survey() if survey else None)


def test_the_headline_names_the_late_rank_and_the_call_site(tmp_path: Path):
    found = results(tmp_path, late_ranks())
    assert any("solver.py:120" in sentence and "rank 3" in sentence for sentence in found.headline)
    assert found.first is not None and found.where(found.first) == "MPI_Allreduce (solver.py:120 solve)"
    assert found.causes[0].by_rank == 3
    assert found.is_reliable


def test_a_slow_collective_is_named_with_what_to_do(tmp_path: Path):
    found = results(tmp_path, late_ranks(more=0, cost=2e-3))
    (slow,) = found.slow
    assert slow.operation == "Allreduce"
    assert any("MPI_Allreduce" in line and "'hockney run tuning'" in line for line in found.headline)


def test_two_calls_are_not_typical(tmp_path: Path):
    ranks = program(4, end=1.6)
    allreduces(ranks, late=3, steps=4, more=0, cost=0.2)
    found = results(tmp_path, ranks)
    assert found.launch.counted["calls"].sum() == 16
    (row,) = found.explanation.rows
    assert row.parts.excess > 0.5 * row.seconds
    assert found.slow == () and not row.has_few_slow_calls


def test_the_factor_of_a_slow_operation_is_that_of_its_time(tmp_path: Path):
    """Most calls take three times their price, and few 50 times theirs."""
    price = fake_costs().collective("Allreduce", 4, 8)
    assert price is not None
    ranks = program(4, end=1.6)
    allreduces(ranks, late=3, steps=1000, work=1e-4, more=0, cost=3 * price.value)
    allreduces(ranks, late=3, steps=25, work=1e-4, more=0, cost=50 * price.value, site=6, channel=7)
    (slow,) = results(tmp_path, ranks).slow
    whole = (1000 * 3 + 25 * 50) / 1025
    assert slow.factor == pytest.approx(whole, rel=0.05)


def test_few_long_calls_are_no_slow_operation(tmp_path: Path):
    ranks = program(4, end=1.6)
    cost = 1e-6
    for each in ranks:
        each.site(5, "a.c:5 f")
        for step in range(60):
            took = 0.05 if step == 30 else cost
            each.sampled(
                "Allreduce", 5, form.COLLECTIVE, WORLD, step, step * 0.02, step * 0.02, step * 0.02 + took
            )
        each.called("Allreduce", 5, 59 * cost + 0.05, 60, 480)
    found = results(tmp_path, ranks)
    assert found.slow == ()
    assert [row.has_few_slow_calls for row in found.notable_excess] == [True]


def test_findings_within_the_cost_of_recording_are_withheld(tmp_path: Path):
    ranks = late_ranks()
    for each in ranks:
        each.overhead = {"blocking": (100.0, 100e6)}
    found = results(tmp_path, ranks)
    assert found.causes == ()
    assert found.withheld
    assert found.first is found.largest
    assert not any("rank 3" in sentence for sentence in found.headline[1:-2])
    parts = columns.parts_table(found)
    assert [row[0] for row in parts.rows if row[0] in ("wait at a collective", "unexplained excess")] == []
    assert "recording-overhead" in [caveat.code for caveat in found.caveats]
    assert "waiting" not in columns.sites_table(found).columns
    document = columns.document(found)
    assert document["recording"]["exceeds_findings"]


@pytest.mark.parametrize(("threads", "code"), [(1, "few-timed"), (2, "several-threads")])
def test_messages_of_several_threads_are_not_separated(tmp_path: Path, threads: int, code: str):
    """From the first call of a second thread on they are not timed, and a survey is no help."""
    ranks = program(2)
    for each in ranks:
        each.threads_count = threads
        for thread in range(threads):
            each.add("threads", id=thread, calls=20)
    ranks[0].called("Send", ranks[0].site(11, "halo.py:10 send"), 2e-4, 40, 320, form.NODE)
    ranks[1].called("Recv", ranks[1].site(12, "halo.py:20 receive"), 4.0, 40, 320, form.NODE)
    found = results(tmp_path, ranks)
    row = found.explanation.rows[0]
    assert row.name == "Recv" and row.parts.waiting == row.parts.excess == 0
    assert row.parts.not_separated > 0.99 * row.seconds and row.why[0].code == code
    assert ("several-threads" in [caveat.code for caveat in found.caveats]) == (threads > 1)
    assert any("is not separated: " + row.why[0].text in sentence for sentence in found.headline)


def test_waiting_that_is_known_in_part(tmp_path: Path):
    """Some of the calls at the same call site were not timed."""
    ranks = late_ranks(cost=5e-3)
    for each in ranks:
        each.called("Allreduce", 5, 0.5 * each.in_mpi, 25, 200)
    found = results(tmp_path, ranks)
    answer = msgspec.json.decode(msgspec.json.encode(columns.document(found)))
    reasons = answer["call_sites"][0]["not_separated_reasons"]
    assert reasons[0]["code"] == "few-timed"
    assert answer["not_separated"][0]["code"] == "few-timed"


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_damaged_files_give_an_answer_or_an_error(tmp_path_factory: pytest.TempPathFactory, seed: int):
    random = np.random.default_rng(seed)
    folder = folder_of(tmp_path_factory.mktemp("damaged") / "p", [late_ranks()])
    for path in (folder / "launch-1").iterdir():
        content = bytearray(path.read_bytes())
        for at in (*random.integers(8, 720, 3), *random.integers(4096, len(content), 10)):
            content[at] = int(random.choice([0, 255, random.integers(256)]))
        path.write_bytes(content)
    try:
        found = make_results(read_profile(folder), fake_survey())
        assert msgspec.json.encode(columns.document(found))
        assert page(found).headline
        assert read_live(folder).lines
    except HockneyError as error:
        assert error.code


def test_a_program_that_hardly_communicates(tmp_path: Path):
    found = results(tmp_path, late_ranks(more=0, end=100.0))
    assert found.mpi_share.value < 0.01
    assert not any("solver.py" in sentence for sentence in found.headline)


def test_reasons_for_what_is_not_separated_are_given(tmp_path: Path):
    found = results(tmp_path, late_ranks(cost=5e-3), survey=False)
    why = found.unseparated[0]
    assert why.code == "no-survey"
    assert why.seconds == pytest.approx(found.total.not_separated)
    assert why.text in columns.unseparated_line(found)


def test_the_largest_call_site_is_named_though_it_is_not_separated(tmp_path: Path):
    ranks = late_ranks()
    for each in ranks:
        each.called("Put", each.site(9, "w.c:9 put"), 1.5, 100)
    found = results(tmp_path, ranks)
    assert found.largest is not None and found.first is not None
    assert (found.largest.name, found.first.name) == ("Put", "Allreduce")
    of_largest, of_first = (
        next(k for k, sentence in enumerate(found.headline) if place in sentence)
        for place in ("w.c:9", "solver.py:120")
    )
    assert of_largest < of_first
    assert found.largest.why[0].text in found.headline[of_largest]


def test_ranks_that_share_cores(tmp_path: Path):
    found = results(tmp_path, late_ranks(), cores=2)
    assert not found.is_reliable
    assert found.unseparated[0].code == "shared-cores"
    assert found.unseparated[0].text in found.headline[1]
    document = columns.document(found)
    assert [metric["reliable"] for metric in document["efficiencies"]] == [False] * 3


def test_call_sites_of_documents_are_complete(tmp_path: Path):
    name = "a_very_long_name_of_a_module_of_a_large_program.py:1200 with_a_function_of_a_long_name"
    ranks = program(2)
    for k in range(40):
        message(ranks[0], ranks[1], k, posted=k * 0.1 + 0.02, received=k * 0.1)
    for each in ranks:
        each.records["sites"] = [values | {"python": name.encode()} for values in each.records["sites"]]
    document = columns.document(results(tmp_path, ranks))
    assert {each["site"] for each in document["call_sites"]} == {name}
    assert document["waiting"][0]["site"] == document["waiting"][0]["late_site"] == name


def test_columns_have_the_unit_of_their_largest_time(tmp_path: Path):
    ranks = late_ranks()
    for each in ranks:
        each.called("Send", each.site(9, "w.c:9 put"), 2e-6, 1, 8)
    table = columns.sites_table(results(tmp_path, ranks), least=0.0)
    column = next(each for each in columns_of(table) if each.title == "time")
    assert column.unit == "s"
    assert [cell.strip() for cell in column.cells] == ["3.00", "<0.001"]


def test_what_recording_cost_is_not_known_if_no_rank_measured_it(tmp_path: Path):
    ranks = program(2, finalized=False)
    for each in ranks:
        each.overhead = {}
        each.called("Barrier", each.site(9, "w.c:9 f"), 1.0, 100)
    found = results(tmp_path, ranks)
    recording = columns.document(found)["recording"]
    assert (recording["total_s"], recording["share"]) == (None, None)
    assert not found.withheld
    assert page(found).headline


def test_efficiencies_are_pops(tmp_path: Path):
    found = efficiencies(results(tmp_path, late_ranks()).launch)
    computation = [1.6 - 50 * 0.02002] * 3 + [1.6 - 50 * 20e-6]
    assert found.load_balance == pytest.approx(np.mean(computation) / max(computation))
    assert found.communication == pytest.approx(max(computation) / 1.6)
    assert found.parallel == pytest.approx(np.mean(computation) / 1.6)
    assert found.slowest_rank == 3


def test_the_document_has_everything(tmp_path: Path):
    answer = msgspec.json.decode(msgspec.json.encode(columns.document(results(tmp_path, late_ranks()))))
    (site,) = answer["call_sites"]
    assert site["function"] == "MPI_Allreduce" and site["line"] == 120 and site["calls"] == 200
    assert sum(site["parts_s"].values()) == pytest.approx(site["time_s"])
    assert answer["waiting"][0]["for_rank"] == "3"
    assert answer["waiting"][0]["waiting_ranks"] == ["0", "1", "2"]
    assert answer["look_first"]["function"] == "MPI_Allreduce"


@pytest.mark.parametrize("survey", [True, False])
def test_tables_and_page_are_complete(tmp_path: Path, survey: bool):
    found = results(tmp_path, late_ranks(), survey=survey)
    assert [table.name for table in columns.terminal_tables(found)][:3] == [
        "efficiencies",
        "parts",
        "call-sites",
    ]
    html = render(page(found))
    assert "solver.py:120" in html and "load balance" in html


def test_a_program_without_calls_has_an_answer(tmp_path: Path):
    found = results(tmp_path, program(2))
    assert found.mpi_share.value == 0
    assert found.headline
    assert render(page(found))
    assert columns.document(found)["call_sites"] == []


def test_several_launches_have_intervals(tmp_path: Path):
    launches = [late_ranks(end=1.6 + 0.01 * k) for k in range(5)]
    share = results(tmp_path, *launches).mpi_share
    assert share.low is not None and share.high is not None
    assert share.low < share.value < share.high
    assert results(tmp_path / "one", late_ranks()).mpi_share.low is None


def profiles(tmp_path: Path, ends: tuple[float, float], count: int = 5) -> tuple[Profile, Profile]:
    random = np.random.default_rng(1)
    found = []
    for name, end in zip("ab", ends, strict=True):
        launches = []
        for _ in range(count):
            noise = float(random.normal(1, 0.005))
            launches.append(late_ranks(more=0.02 * end / 1.6 * noise, end=end * noise))
        found.append(read_profile(folder_of(tmp_path / name, launches)))
    return found[0], found[1]


def test_a_slower_version_is_found(tmp_path: Path):
    found = compare_profiles(*profiles(tmp_path, (1.6, 2.4)))
    assert found.state == "slower" and found.fails
    assert found.elapsed.ratio.value == pytest.approx(1.5, rel=0.02)
    assert "MPI_Allreduce in solver.py:solve" in [row[1] for row in found.table.rows]
    assert msgspec.json.encode(found.document)


def test_the_same_version_is_the_same(tmp_path: Path):
    assert compare_profiles(*profiles(tmp_path, (1.6, 1.6))).state == "same"


def test_single_launches_have_no_verdict(tmp_path: Path):
    found = compare_profiles(*profiles(tmp_path, (1.6, 2.4), count=1))
    assert found.state == "unknown" and found.is_open
    assert [caveat.code for caveat in found.caveats] == ["few-launches"]


def test_other_numbers_of_ranks_are_refused(tmp_path: Path):
    a = read_profile(folder_of(tmp_path / "a", [program(2)]))
    b = read_profile(folder_of(tmp_path / "b", [program(4)]))
    with pytest.raises(HockneyError) as error:
        compare_profiles(a, b)
    assert error.value.code == "profiles-of-other-ranks"


def test_a_damaged_manifest_is_an_error(tmp_path: Path):
    with pytest.raises(HockneyError) as error:
        read_manifest(tmp_path)
    assert error.value.code == "not-a-profile"
    (tmp_path / "profile.json").write_text('{"schema": 1}')
    with pytest.raises(HockneyError) as error:
        read_manifest(tmp_path)
    assert error.value.code == "damaged-profile"
