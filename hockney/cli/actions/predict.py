# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the performance of a parallel algorithm on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney import api
from hockney.api import PredictedKernel
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import UsageError, printable
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.draw.page import Caveat, Table
from hockney.models.applications.grain_prediction import Prediction
from hockney.models.applications.granularity import Algorithm
from hockney.pages import grain_prediction
from hockney.pages.caveats.predictions import CostsOrigin, prediction_caveats

_FLAGS = {"machine": "--machine", "larger": "--larger-machine", "rate": "--rate"}
"""The options that apply to the kernels of some suites."""


def action(
    kernel: tuple[str, ...],
    named: str,
    size: str,
    rate: float,
    work: tuple[float, str] | None,
    message: int | None,
    exchanges: float,
    serial: float,
    imbalance: float,
    ranks: tuple[int, ...],
    run: Path | None,
    machine: str,
    network: str | None,
    larger_machine: bool,
    nodes: int,
    ranks_per_node: int,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    words = (*([named] if named else []), *kernel)
    if words:
        words = (*words, f"class={size}") if size else words
        predictor = api.predictor_of(words[0])
        others: dict[str, object] = {"--work": work, "--message": message, "--network": network}
        others |= {"--nodes": nodes, "--ranks-per-node": ranks_per_node}
        own = {"machine": machine, "larger": larger_machine, "rate": rate}
        others |= {_FLAGS[name]: value for name, value in own.items() if name not in predictor.OPTIONS}
        for name, value in others.items():
            if value:
                raise UsageError(
                    f"{name} does not apply to a kernel",
                    "a kernel states its work and its messages itself",
                    f"leave out {name}, or the kernel",
                    code="kernel-with-algorithm",
                    option=name,
                )
        with ProgressReporter(quiet) as reporter:
            options = api.KernelOptions(ranks, run, machine, rate, larger_machine, cost, reporter)
            predicted = predictor.predict(" ".join(words), options)
        if as_json:
            print_json(predicted.document)
        else:
            _print_kernel(predicted)
        return 0
    for name, value in {"--class": size, "--rate": rate}.items():
        if value:
            raise UsageError(
                f"{name} is without a kernel",
                "it belongs to a benchmark",
                "add for example --kernel cg",
                code="option-without-kernel",
                option=name,
            )
    if work is None or message is None:
        option, given = ("--work", "1s") if work is None else ("--message", "40kB")
        raise UsageError(
            f"{option} is missing",
            "it describes the algorithm",
            f"use for example {option} {given}",
            code="algorithm-incomplete",
            option=option,
        )
    work_s, typed = work
    algorithm = Algorithm(work_s, message, serial, exchanges, imbalance)
    shared = None if network is None else network == "shared"
    with ProgressReporter(quiet) as reporter:
        if work_s and typed.strip()[-1].isdecimal():
            number = typed.strip()
            reporter(
                Notice(
                    f"--work {printable(number)} has no unit and is taken as seconds; for microseconds write "
                    f"{printable(number)}us",
                    "work-without-unit",
                )
            )
        forecast = api.predict(
            algorithm,
            ranks=ranks,
            run=run,
            machine=machine,
            shared=shared,
            larger=larger_machine,
            cost=cost,
            nodes=nodes,
            ranks_per_node=ranks_per_node,
            listen=reporter,
        )
    prediction, origin = forecast.prediction, forecast.known
    if as_json:
        caveats = prediction_caveats(prediction, origin)
        print_json(grain_prediction.document(prediction, caveats, origin.platform))
    else:
        _print_forecast(prediction, origin)
    return 0


def _print_kernel(predicted: PredictedKernel) -> None:
    """Sentences after a table begin with an empty line."""
    before: str | Table = ""
    for each in predicted.shown:
        if isinstance(each, Table):
            _print_table(each)
        else:
            if isinstance(before, Table):
                echo()
            print_line(each)
        before = each
    _print_caveats(predicted.caveats)


def _print_forecast(prediction: Prediction, origin: CostsOrigin) -> None:
    for sentence in grain_prediction.assumed_sentences(prediction, origin.platform):
        print_line(sentence)
    _print_table(grain_prediction.ranks_table(prediction))
    if prediction.needed:
        _print_table(grain_prediction.needed_work(prediction))
    echo()
    for sentence in grain_prediction.best_sentences(prediction):
        print_line(sentence)
    if prediction.changes:
        print_line(grain_prediction.changes_heading(prediction))
        _print_table(grain_prediction.levers_table(prediction))
    _print_caveats(prediction_caveats(prediction, origin))


def _print_caveats(caveats: Sequence[Caveat]) -> None:
    if caveats:
        echo()
    print_caveats(caveats)


def _print_table(table: Table) -> None:
    echo()
    print_table(table)
