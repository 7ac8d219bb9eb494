# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Annealing with a master, with made-up times: what the reproduction accepts, rejects and explains."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from made_up import made_up

from hockney import lab, simulated
from hockney.core.case import Case
from hockney.core.record import MetricSeries, Record, RunRecords
from hockney.report.render import render
from hockney.reproductions import Answer, Part, annealing, annealing_page
from hockney.reproductions.annealing_cases import CLUSTER, LARGE, SMALL, T3D
from hockney.reproductions.annealing_times import (
    COMMUNICATION,
    COMPUTATION,
    KINDS,
    PROCESSES,
    SHORTENED,
    WORKER,
    printed,
)
from hockney.system.bundled import catalog_with

CATALOG = catalog_with(lab.bundled_catalog(), annealing.WORKLOADS)
PARTS = annealing.parts(CATALOG)
Times = Callable[[Part, Case], "dict[tuple[str, str], float] | None"]
"""Seconds of computation and communication of the master and of each worker."""


def as_printed(part: Part, case: Case) -> dict[tuple[str, str], float]:
    """Table 1, and on the T3D the gain and the loss of which the paper writes."""
    setup = str(case["setup"])
    if part.machine.startswith("ppro"):
        return {(kind, who): printed(setup, kind, who).si for kind in KINDS for who in PROCESSES}
    rest = {"original": 1.0, "estimated": 0.9 if case.ranks == SMALL else 1.2, "decoupled": 0.0}[setup]
    return {(kind, who): 10.0 if kind == COMPUTATION else rest for kind in KINDS for who in PROCESSES}


def series(values: list[float], over_ranks: str, per: str) -> MetricSeries:
    return MetricSeries(unit="s", over_ranks=over_ranks, per=per, phase=False, values=values)  # type: ignore[arg-type]


def record(case: Case, times: dict[tuple[str, str], float], shortened: int) -> Record:
    def on_ranks(kind: str, part: float = 1.0) -> list[float]:
        master, worker = (times[kind, who] * part / shortened for who in PROCESSES)
        return [master, *[worker] * (case.ranks - 1)]

    elapsed = max(sum(times[kind, who] for kind in KINDS) for who in PROCESSES) / shortened
    parts = {"computation": on_ranks(COMPUTATION), "balancing": [0.0] * case.ranks}
    parts |= {name: on_ranks(COMMUNICATION, 1 / 3) for name in ("posting", "testing", "waiting")}
    metrics = {f"rank_{name}": series(values, "each", "repetition") for name, values in parts.items()}
    steps = case.number("walkers") * case.number("steps") * case.number("temperatures")
    metrics["total_steps"] = series([steps], "sum", "repetition")
    metrics["round_end"] = series([elapsed / 2, elapsed], "root", "superstep")
    metrics["round_steps"] = series([steps / 2, steps], "root", "superstep")
    return made_up(case, elapsed, metrics)


def answers(times: Times) -> dict[str, Answer]:
    found = {}
    for part in PARTS:
        shortened = SHORTENED if part.machine.startswith("ppro") else 1
        known = [(case, times(part, case)) for case in part.cases]
        records = [record(case, seconds, shortened) for case, seconds in known if seconds is not None]
        found[part.name] = Answer(part, simulated.platform(part.machine), RunRecords.of(records))
    return found


def held(times: Times) -> list[bool]:
    given = answers(times)
    compared = annealing.compare(given)
    limits = [*annealing.limits(compared), *annealing.findings(given)]
    assert render(annealing.page(given, compared, limits))
    return [limit.holds for limit in limits]


def changed(setup: str, kind: str, factor: float, part: str = CLUSTER, processes: int = 0) -> Times:
    """The paper's times, with one kind in one set-up multiplied."""

    def times(at: Part, case: Case) -> dict[tuple[str, str], float]:
        found = as_printed(at, case)
        if at.name != part or case["setup"] != setup or processes not in (0, case.ranks):
            return found
        return {cell: seconds * (factor if cell[0] == kind else 1) for cell, seconds in found.items()}

    return times


def test_the_times_of_the_paper_are_accepted():
    assert held(as_printed) == [True] * 7


@pytest.mark.parametrize(
    ("wrong", "fails"),
    [
        (changed("decoupled", COMPUTATION, 1.06), [0]),
        (changed("estimated", COMPUTATION, 0.94), [0, 3, 4]),
        (changed("estimated", COMMUNICATION, 1.21), [1, 4]),
        (changed("original", COMMUNICATION, 2.0), [2, 4]),
        (changed("original", COMMUNICATION, 0.5), [3, 4]),
        (changed("estimated", COMMUNICATION, 3.0, T3D, SMALL), [5]),
        (changed("original", COMMUNICATION, 3.0, T3D, LARGE), [6]),
        (lambda part, case: None, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_other_times_are_not(wrong, fails):
    assert [number for number, holds in enumerate(held(wrong)) if not holds] == fails


def test_the_row_to_which_the_machine_is_fitted_is_no_prediction():
    compared = annealing.compare(answers(as_printed))
    own = {row.key: row.status for row in compared if row.status != "variant"}
    fitted = {key for key, status in own.items() if status == "fitted"}
    assert fitted == {printed("original", kind, who).key for kind in KINDS for who in PROCESSES}
    assert set(own) == {row.key for row in annealing.PRINTED.rows}, "every printed number has a row"
    assert [row.error for row in compared if row.unit == "s"] == pytest.approx([0.0] * 48)


def test_only_what_is_missed_is_explained():
    """By the printed and the simulated times."""

    def explained(times: Times) -> list[str]:
        given = answers(times)
        return list(annealing_page.sections(given, annealing.compare(given))[-1].text)

    assert explained(as_printed) == []
    (worker,) = explained(_worker_computes_less)
    assert "25.9 s" in worker and "24.7 s" in worker, "what the paper's two lose to messages"
    assert "0.0 s" in worker, "the simulated worker"
    (calls,) = explained(changed("estimated", COMMUNICATION, 3.0, T3D, SMALL))
    assert "744 us" in calls, "62 calls of 12 us"


def _worker_computes_less(part: Part, case: Case) -> dict[tuple[str, str], float]:
    found = as_printed(part, case)
    if part.name == CLUSTER and case["setup"] == "estimated":
        lost = found[COMPUTATION, WORKER] - printed("decoupled", COMPUTATION, WORKER).si
        found[COMPUTATION, WORKER] -= lost
        found[COMMUNICATION, WORKER] += lost
    return found


def test_the_description_has_what_the_paper_prints_and_says_what_it_does_not():
    machine = simulated.platform("ppro-ethernet")
    for key in ("segments[0].processor_s", "rates.annealing"):
        origin = simulated.origin_of(machine, key)
        assert origin.status == "fitted" and origin.rows == ("annealing/table-1/original",)
    (segment,), (offload,) = machine.segments, simulated.platform("ppro-ethernet+offload").segments
    assert offload == msgspec.structs.replace(segment, processor_s=0.0), "nothing else differs"
