# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney barrier: the fastest barrier, from the records of a run that measured them."""

from __future__ import annotations

import math
from pathlib import Path

from hockney import api
from hockney.api import Run
from hockney.cli.output.progress import ProgressReporter, load_and_note
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.case import MPI
from hockney.core.errors import printable
from hockney.core.record import Origin
from hockney.draw.page import Table
from hockney.pages.format import interval, quantity, ratio_interval
from hockney.studies.barriers import NAME
from hockney.studies.barriers.headline import choice_sentence
from hockney.studies.barriers.results import MEASURED_BASIS, Candidate, Choice


def action(
    run: Path | None,
    best: bool,
    ranks: tuple[int, ...],
    nodes: int,
    ranks_per_node: int,
    quiet: bool,
    as_json: bool,
) -> int:
    reporter = ProgressReporter(quiet)
    loaded_run = load_and_note(run or api.newest_run(NAME, reporter), quiet=quiet)
    with reporter.show_step("fitting the models"):
        choices, failures = api.choose_barriers(loaded_run, ranks, nodes, ranks_per_node)
    if failures and not choices:
        raise failures[0]
    if as_json:
        print_json(_document(loaded_run, choices, best))
    else:
        for k, choice in enumerate(choices):
            if not best:
                if k:
                    echo()
                print_table(_table(choice, loaded_run.machine.traits.origin))
            print_line(choice_sentence(choice))
        print_caveats(loaded_run.caveats)
    if failures:  # first report what is known
        raise failures[0]
    return 0


def _table(choice: Choice, origin: Origin) -> Table:
    """Table of the choices. `origin` is the origin of the run's numbers."""
    placed = bool(choice.nodes)
    rows = tuple(
        (
            each.algorithm,
            str(choice.ranks),
            *([str(choice.nodes)] if placed else []),
            quantity(each.seconds, "s"),
            interval(each.time, "s"),
            f"{each.ratio.value:.2f}",
            ratio_interval(each.ratio),
            origin if each.basis == MEASURED_BASIS else each.basis,
        )
        for each in choice.candidates
    )
    layout = ("ranks", "nodes") if placed else ("ranks",)
    columns = ("barrier", *layout, "a call", "95% interval", "times the best", "its 95% interval", "by")
    numeric, parameters = range(1, len(columns) - 1), range(1, 1 + len(layout))
    return Table("choice", "", columns, rows, numeric=tuple(numeric), parameters=tuple(parameters))


def _document(run: Run, choices: list[Choice], best: bool) -> dict[str, object]:
    return {
        "run": printable(str(run.path)),
        "machine": run.machine.host,
        "doubts": run.caveats,
        "choices": [
            {
                "ranks": choice.ranks,
                **({"nodes": choice.nodes} if choice.nodes else {}),
                "measured": choice.is_measured,
                "best": _candidate_document(choice.best),
                "next": _candidate_document(choice.second_best),
                "mpi": _candidate_document(choice.candidate(MPI)),
                "alike": choice.equally_fast,
                "unknown": choice.without_result,
                **(
                    {}
                    if best
                    else {"candidates": [_candidate_document(single) for single in choice.candidates]}
                ),
            }
            for choice in choices
        ],
    }


def _candidate_document(candidate: Candidate | None) -> dict[str, object] | None:
    """JSON has no infinity: an unknown ratio is null."""
    if candidate is None:
        return None
    return {
        "algorithm": candidate.algorithm,
        "time_s": candidate.seconds,
        "low_s": candidate.time.low,
        "high_s": candidate.time.high,
        "ratio": candidate.ratio.value if math.isfinite(candidate.ratio.value) else None,
        "ratio_low": candidate.ratio.low,
        "ratio_high": candidate.ratio.high,
        "by": candidate.basis,
    }
