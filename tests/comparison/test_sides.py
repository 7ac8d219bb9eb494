# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two sides, and which of their cases correspond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from hockney.comparison import MeasuredRun, Side, compare
from hockney.comparison.environment import differences, mixed
from hockney.comparison.wording import overall
from hockney.core.errors import Inconclusive
from hockney.core.machine import Machine, Mpi
from hockney.core.record import SCHEMA, Clock, Close, Launch, Rank, Record, RunRecords, Stop, Sync, Verified
from hockney.core.settings import Settings
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()
MPI = Mpi(family="openmpi", version="5.0.8", prefix="/opt/old", mpicxx="", mpiexec="", source="path")
MACHINE = Machine(
    schema=SCHEMA, kind="real", host="node7", system="Linux", cpu="CPU", cores=4, threads=4, hockney="1",
    mpi=MPI, governor="performance", settings={"OMPI_MCA_btl": "self,sm"},
)  # fmt: skip
CASES = ("bcast bytes=64 ranks=2", "bcast bytes=1024 ranks=4", "barrier ranks=2")


def launch(name: str, ranks: int, hosts: Sequence[str] = ("node7",)) -> Launch:
    return Launch(
        schema=SCHEMA,
        launch=name,
        index=0,
        origin="measured",
        started_s=1.7e9,
        ranks=[Rank(host=hosts[k % len(hosts)], pid=k, cpus=str(k)) for k in range(ranks)],
        mpi_standard="4.1",
        library="Open MPI",
        engine="0.1.0",
        compiler="gcc",
        clock=Clock(overhead_s=1e-8, resolution_s=1e-9),
        binding="core",
    )


def run(
    lines: Sequence[str] = CASES,
    machine: Machine = MACHINE,
    factor: float = 1.0,
    hosts: Sequence[str] = ("node7",),
    launches: int = 6,
    **settings: object,
) -> MeasuredRun:
    """A quiet run: each case in each launch with as many ranks."""
    cases = [CATALOG.case(line) for line in lines]
    made: list[Launch] = []
    records: list[Record] = []
    for number in range(launches):
        for ranks in sorted({case.ranks for case in cases}):
            made.append(launch(f"{number}.{ranks}", ranks, hosts))
            for position, case in enumerate(case for case in cases if case.ranks == ranks):
                records.append(
                    Record(
                        schema=SCHEMA,
                        launch=made[-1].launch,
                        origin="measured",
                        position=position,
                        case=case.line,
                        started_s=1.7e9 + number,
                        times_s=[1e-6 * factor * (1 + 0.001 * number)] * 20,
                        batch=1,
                        warmup_s=[],
                        bytes_moved=64,
                        sync=Sync(kind="none"),
                        stop=Stop(reason="precision", precision=0.02, achieved=None),
                        verified=Verified(bytes=0, errors=0),
                    )
                )
    chosen = Settings(study="cases", **settings)
    return MeasuredRun("a run", machine, RunRecords(tuple(made), tuple(records)), chosen, CATALOG)


def side(name: str, *runs: MeasuredRun) -> Side:
    return Side(name, runs or (run(),))


def changed(**fields: object) -> Machine:
    return msgspec.structs.replace(MACHINE, **fields)


def test_nothing_differs():
    assert differences(side("A"), side("B")) == ()


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
    (difference,) = differences(side("A"), side("B", run(machine=other)))
    assert (difference.name, difference.a, difference.b) == (name, *values)


def test_what_the_launches_and_the_settings_record():
    other = run(hosts=("node7", "node8"), mpiexec_args="--mca x y", variables=("A=1",))
    found = {each.name: (each.a, each.b) for each in differences(side("A"), side("B", other))}
    assert found == {
        "hosts": ("1 host", "2 hosts"),
        "mpiexec arguments": ("not recorded", "--mca x y"),
        "variables": ("not recorded", "A=1"),
    }
    close = Close(schema=SCHEMA, launch="0.2", seconds=1, exit_code=0, outside_cores=2)
    loaded = replace(run(), run=replace(run().run, closes=(close,)))
    (difference,) = differences(side("A"), side("B", loaded))
    assert (difference.name, difference.a, difference.b) == ("launches under load", "0 of 12", "1 of 12")


def test_runs_of_one_side_that_differ():
    other = run(machine=changed(governor="powersave"))
    assert mixed(side("A", run(), other)) == ("governor",)
    compared = compare(side("A", run(), other), side("B"), 0.05)
    assert [caveat.code for caveat in compared.caveats] == ["mixed-environment"]
    assert compared.differences[0].a == "performance; powersave"


def test_levels_are_known_from_the_hosts():
    hosts = ("node7", "node8")
    compared = compare(side("A", run(hosts=hosts)), side("B", run(hosts=hosts)), 0.05)
    assert {each.level for each in compared.operations} == {"between hosts"}
    apart = compare(side("A", run(hosts=hosts)), side("B"), 0.05)
    assert {each.level for each in apart.operations} == {""}, "not comparable"
    together = side("A", run(CASES[:1]), run(CASES[1:2], hosts=hosts))
    both = compare(together, replace(together, name="B"), 0.05)
    assert {each.level for each in both.operations} == {"within a host", "between hosts"}
    assert both.several_levels and len(both.operations) == 2


def test_cases_without_a_counterpart():
    compared = compare(side("A"), side("B", run(CASES[:2])), 0.05)
    assert [each.case.workload for each in compared.only_a] == ["barrier"] and compared.only_b == ()
    with pytest.raises(Inconclusive) as none:
        compare(side("A", run(CASES[:1])), side("B", run(CASES[1:])), 0.05)
    assert none.value.code == "no-common-case"
    with pytest.raises(Inconclusive) as empty:
        compare(side("A"), side("B", run(())), 0.05)
    assert empty.value.code == "side-without-measurements" and empty.value.fields["side"] == "B"


@pytest.mark.parametrize(
    ("factor", "tolerance", "state"),
    [(1.0, 0.05, "same"), (1.2, 0.05, "slower"), (1.2, 0.3, "same"), (0.8, 0.05, "faster")],
)
def test_the_whole(factor, tolerance, state):
    compared = compare(side("A"), side("B", run(factor=factor)), tolerance)
    assert compared.state == state and {each.state for each in compared.cases} == {state}
    assert overall(compared).startswith("B is ")


def test_few_launches_are_a_caveat():
    compared = compare(side("A", run(launches=2)), side("B"), 0.05)
    assert "few-launches" in {caveat.code for caveat in compared.caveats}
    single = compare(side("A", run(launches=1)), side("B"), 0.05)
    assert single.state == "undecided" and {each.state for each in single.cases} == {"unknown"}
    assert single.cases[0].more_launches == (2, 0)
