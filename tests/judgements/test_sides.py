# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two sides, and which of their cases correspond."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from compared_runs import CASES, CATALOG, changed, run, side

from hockney.core.errors import Inconclusive
from hockney.core.record import SCHEMA, Close, Verified
from hockney.judgements.compare import compare
from hockney.judgements.document import comparison_document
from hockney.judgements.environment import environment_differences, mixed_facts
from hockney.judgements.judgement import junit_report
from hockney.judgements.page import comparison_page


def test_nothing_differs():
    assert environment_differences(side("A"), side("B")) == ()


@pytest.mark.parametrize(
    ("other", "name", "values"),
    [
        (changed(governor="powersave"), "governor", ("performance", "powersave")),
        (changed(mpi=None), "MPI", ("Open MPI 5.0.8 in /opt/old", "not recorded")),
        (changed(system="Linux 6"), "system", ("Linux", "Linux 6")),
        (changed(compiler="gcc 14"), "compiler", ("not recorded", "gcc 14")),
        (changed(settings={"OMPI_MCA_btl": "tcp"}), "OMPI_MCA_btl", ("self,sm", "tcp")),
        (changed(settings={}), "OMPI_MCA_btl", ("self,sm", "not recorded")),
    ],
)
def test_what_the_machine_records(other, name, values):
    (difference,) = environment_differences(side("A"), side("B", run(machine=other)))
    assert (difference.name, difference.a, difference.b) == (name, *values)


def test_what_the_launches_and_the_settings_record():
    other = run(hosts=("node7", "node8"), mpiexec_args="--mca x y", variables=("A=1",))
    found = {each.name: (each.a, each.b) for each in environment_differences(side("A"), side("B", other))}
    assert found == {
        "hosts": ("1 host", "2 hosts"),
        "mpiexec arguments": ("none", "--mca x y"),
        "variables": ("none", "A=1"),
    }
    close = Close(schema=SCHEMA, launch="0.2", seconds=1, exit_code=0, outside_cores=2)
    loaded = replace(run(), run=replace(run().run, closes=(close,)))
    (difference,) = environment_differences(side("A"), side("B", loaded))
    assert (difference.name, difference.a, difference.b) == ("launches under load", "0 of 12", "1 of 12")


def test_batch_jobs_on_other_nodes_have_the_same_environment():
    """They are one machine in the archive, too."""
    jobs = [changed(scheduler="slurm", host=host) for host in ("node1", "node2")]
    assert (
        environment_differences(*(side(name, run(machine=job)) for name, job in zip("AB", jobs, strict=True)))
        == ()
    )
    assert mixed_facts(side("A", *(run(machine=job) for job in jobs))) == ()
    here = environment_differences(side("A"), side("B", run(machine=changed(host="node8"))))
    assert [each.name for each in here] == ["host"]


def test_runs_of_one_side_that_differ():
    other = run(machine=changed(governor="powersave"))
    assert mixed_facts(side("A", run(), other)) == ("governor",)
    compared = compare(side("A", run(), other), side("B"), 0.05)
    assert [caveat.code for caveat in compared.caveats] == ["mixed-environment"]
    assert compared.differences[0].a == "performance; powersave"


def test_levels_are_known_from_the_hosts():
    hosts = ("node7", "node8")
    compared = compare(side("A", run(hosts=hosts)), side("B", run(hosts=hosts)), 0.05)
    assert {each.level for each in compared.operations} == {"between nodes"}
    apart = compare(side("A", run(hosts=hosts)), side("B"), 0.05)
    assert {each.level for each in apart.operations} == {""}, "not comparable"
    together = side("A", run(CASES[:1]), run(CASES[1:2], hosts=hosts))
    both = compare(together, replace(together, name="B"), 0.05)
    assert {each.level for each in both.operations} == {"within a node", "between nodes"}
    assert both.has_several_levels and len(both.operations) == 2


def test_levels_that_cases_name_are_operations_of_their_own():
    lines = (
        "pingpong bytes=8 place=cache",
        "pingpong bytes=8 place=network",
        "bcast bytes=8 ranks=2 nodes=1",
    )
    both = compare(side("A", run(lines)), side("B", run(lines)), 0.05)
    found = {(each.workload, each.level) for each in both.operations}
    assert found == {
        ("pingpong", "within a cache"),
        ("pingpong", "between nodes"),
        ("bcast", "within a node"),
    }


def test_cases_without_a_counterpart():
    compared = compare(side("A"), side("B", run(CASES[:2])), 0.05)
    assert [each.case.workload for each in compared.only_a] == ["barrier"] and compared.only_b == ()
    with pytest.raises(Inconclusive) as none:
        compare(side("A", run(CASES[:1])), side("B", run(CASES[1:])), 0.05)
    assert none.value.code == "no-common-case"
    with pytest.raises(Inconclusive) as empty:
        compare(side("A"), side("B", run(())), 0.05)
    assert empty.value.code == "side-without-measurements" and empty.value.fields["side"] == "B"


def test_a_planned_case_without_a_result_is_not_fine():
    """As in a run that was interrupted before its last launch on four ranks."""
    whole = side("A")
    cases = frozenset(CATALOG.case(line) for line in CASES)
    made = compare(whole, side("B", replace(run(CASES[:2]), planned_cases=cases)), 0.05)
    (missing,) = made.missing_cases
    assert missing.case.workload == "barrier" and made.state == "undecided"
    assert (
        made.overall_sentence == "Undecided: no operation is slower, but B lacks 1 case that it should have."
    )
    assert any("B has no result of 1 operation: barrier" in text for text in made.missing_result_sentences)
    assert comparison_document(made)["only_a"] == [
        {"case": missing.case.line, "failure": "", "expected": True}
    ]
    assert 'errors="1"' in junit_report(made) and "B should have measured it" in junit_report(made)
    slower = compare(whole, side("B", replace(run(CASES[:2], factor=1.3), planned_cases=cases)), 0.05)
    assert slower.state == "slower"
    back = compare(side("A", replace(run(CASES[:2]), planned_cases=cases)), replace(whole, name="B"), 0.05)
    assert back.state == "same", "B has more than A"


@pytest.mark.parametrize(
    ("study", "lines", "missing"),
    [
        ("survey", ("pingpong bytes=8", "bcast bytes=8 ranks=4"), {"barrier"}),
        ("cases", ("pingpong bytes=8", "bcast bytes=8 ranks=4"), set()),
        ("survey", ("pingpong bytes=8",), set()),
        ("survey", ("bcast bytes=64 ranks=4", "pingpong bytes=8"), {"barrier"}),
    ],
    ids=["an operation of the study", "typed cases", "other ranks", "other sizes"],
)
def test_operations_that_b_lacks(study, lines, missing):
    """Ranks, sizes and cases that the user chose are no reason for doubt."""
    of_a = ("pingpong bytes=8", "bcast bytes=8 ranks=4", "barrier ranks=4", "reduce bytes=1024 ranks=4")
    made = compare(side("A", run(of_a, study=study)), side("B", run(lines, study=study)), 0.05)
    assert {each.case.workload for each in made.missing_cases} == missing
    assert made.state == ("undecided" if missing else "same")
    other = compare(side("A", run(of_a, study=study)), side("B", run(lines, study="barriers")), 0.05)
    assert other.missing_cases == () and other.state == "same" and other.only_a
    assert "reduce" in " ".join(other.missing_result_sentences), "it is listed"


def test_wrong_data_comes_first():
    """The times are the same, but what they move is not."""
    of = run()
    records = [msgspec.structs.replace(of.records[0], verified=Verified(bytes=8, errors=1)), *of.records[1:]]
    made = compare(side("A"), side("B", replace(of, run=replace(of.run, records=tuple(records)))), 0.05)
    assert made.state == "same"
    assert made.overall_sentence.startswith("Data arrived corrupted in 1 record of B. B is not slower")
    written = comparison_document(made)
    assert (written["a"]["wrong_records"], written["b"]["wrong_records"]) == (0, 1)
    assert 'errors="1"' in junit_report(made) and "wrong-data" in junit_report(made)
    assert "wrong-data" not in junit_report(compare(side("A"), side("B"), 0.05))


def test_undecided_operations_share_a_sentence_with_what_decides_half_of_their_cases():
    noisy = [1.0, 1.2, 0.8, 1.3, 0.9, 1.1]
    made = compare(side("A", run(scatter=noisy)), side("B", run(scatter=noisy[::-1])), 0.05)
    assert len(made.operations) == 2 and {each.state for each in made.operations} == {"undecided"}
    counts = sorted(max(each.more_launches) for each in made.cases if each.state == "undecided")
    (_, said) = made.answer_sentences
    assert f" {counts[(len(counts) - 1) // 2]} " in said
    assert all(each.workload in said for each in made.operations)


def test_launches_under_load_are_one_caveat():
    of = run()
    closes = tuple(
        Close(schema=1, launch=launch, seconds=1.0, exit_code=0, outside_cores=2.0)
        for launch in sorted({record.launch for record in of.records})
    )
    busy = replace(of, run=replace(of.run, closes=closes))
    made = compare(side("A", busy), side("B", busy), 0.05)
    assert [caveat.code for caveat in made.caveats].count("loaded-launches") == 1


@pytest.mark.parametrize(
    ("factor", "tolerance", "state"),
    [(1.0, 0.05, "same"), (1.2, 0.05, "slower"), (1.2, 0.3, "same"), (0.8, 0.05, "faster")],
)
def test_the_whole(factor, tolerance, state):
    compared = compare(side("A"), side("B", run(factor=factor)), tolerance)
    assert compared.state == state and {each.state for each in compared.cases} == {state}
    assert compared.overall_sentence.startswith("B is ")


def test_few_launches_are_a_caveat():
    compared = compare(side("A", run(launches=2)), side("B"), 0.05)
    assert "few-launches" in {caveat.code for caveat in compared.caveats}
    single = compare(side("A", run(launches=1)), side("B"), 0.05)
    assert single.state == "undecided" and {each.state for each in single.cases} == {"unknown"}
    assert single.cases[0].more_launches == (2, 0)


MANY = (
    "allgather", "allreduce", "alltoall", "bcast", "gather", "isend_recv", "overlap_message", "pingpong",
    "pingpong_double", "reduce", "reduce_scatter_block", "scan", "scatter", "stream",
)  # fmt: skip
LINES = tuple(f"{name} bytes={size} ranks=2" for name in MANY for size in (64, 1024))


def test_of_many_operations_those_that_changed_come_first():
    """Those that are the same share a sentence and a closed section."""
    slow = tuple(line for line in LINES if line.startswith("reduce "))
    rest = tuple(line for line in LINES if line not in slow)
    compared = compare(side("A", run(LINES)), side("B", run(rest), run(slow, factor=1.3)), 0.05)
    others = [name for name in MANY if name != "reduce"]
    assert [each.workload for each in compared.operations_by_change] == ["reduce", *others]
    said = compared.answer_sentences
    assert len(said) == 3 and all(name in said[2] for name in others)
    sections = [section for section in comparison_page(compared).sections if section.tables]
    shown = {
        section.closed: ([row[0] for row in section.tables[0].rows], len(section.figures))
        for section in sections
        if section.tables[0].name == "operations"
    }
    assert shown == {False: (["reduce"], 0), True: (others, len(others))}
    (over_size,) = [s.figures for s in comparison_page(compared).sections if s.title == "Ratio over size"]
    assert [figure.name for figure in over_size] == ["ratio-reduce"]
    names = [figure.name for figure in comparison_page(compared).figures]
    assert sum(name.startswith("ratio-") for name in names) == len(MANY), "all of them are drawn"


def test_a_few_operations_are_together():
    compared = compare(side("A"), side("B", run(factor=1.3)), 0.05)
    tables = [table for section in comparison_page(compared).sections for table in section.tables]
    assert [len(table.rows) for table in tables if table.name == "operations"] == [2]
    same = compare(side("A", run(LINES)), side("B", run(LINES)), 0.05)
    tables = [t for section in comparison_page(same).sections if not section.closed for t in section.tables]
    assert [len(table.rows) for table in tables] == [len(MANY)], "nothing changed: all of them are open"
