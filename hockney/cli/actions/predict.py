# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the performance of a parallel algorithm on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney import api
from hockney.cli.output.caveats import print_caveats
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import UsageError, printable
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.draw.page import Caveat, Table
from hockney.models.applications.grain_prediction import Prediction
from hockney.models.applications.granularity import Algorithm
from hockney.models.npb.kernels import PROGRAMS
from hockney.views import grain_prediction, kernel_prediction, npb_prediction
from hockney.views.grain_prediction import CostsOrigin


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
        benchmark = words[0].split(" ", 1)[0] in PROGRAMS
        others: dict[str, object] = {"--work": work, "--message": message, "--network": network}
        others |= {"--nodes": nodes, "--ranks-per-node": ranks_per_node}
        if not benchmark:
            api.kernel_of(words[0])
            others |= {"--machine": machine, "--larger-machine": larger_machine, "--rate": rate}
        for name, value in others.items():
            if value:
                raise UsageError(
                    f"{name} does not apply to a kernel",
                    "a kernel states its work and its messages itself",
                    f"leave out {name}, or the kernel",
                    code="kernel-with-algorithm",
                    option=name,
                )
        if benchmark:
            return _benchmark(words, ranks, run, machine, rate, larger_machine, cost, quiet, as_json)
        return _kernel(words, ranks, run, cost, quiet, as_json)
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
    prediction, known = forecast.prediction, forecast.known
    if as_json:
        caveats = grain_prediction.caveats(prediction, known)
        print_json(grain_prediction.document(prediction, caveats, known.platform))
    else:
        _print(prediction, known)
    return 0


def _kernel(
    words: tuple[str, ...],
    ranks: tuple[int, ...],
    run: Path | None,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    with ProgressReporter(quiet) as reporter:
        made = api.predict_kernel(" ".join(words), ranks=ranks, run=run, cost=cost, listen=reporter)
        other = dict.fromkeys(kind for each in made for kind in each.other_sizes)
        if other:
            reporter(
                Notice(
                    f"local work was measured only at other sizes: {', '.join(list(other))}; "
                    "'hockney run bsp-kernels' measures it at the sizes of its kernels",
                    "rates-of-other-sizes",
                )
            )
        for each in made:
            if each.lacking:
                reporter(
                    Notice(
                        f"a model is left out on {each.case.ranks} ranks: {each.lacking} was not measured",
                        "kernel-not-predicted",
                    )
                )
    rows = [(each.case, each.predicted, each.times) for each in made]
    if as_json:
        print_json(
            {
                "run": str(made[0].run),
                "predictions": [kernel_prediction.document(*row) for row in rows],
                "doubts": made[0].caveats,
            }
        )
    else:
        case = " ".join(words)
        print_line(f"{case}, with parameters and local rates of {made[0].run!s}:")
        _table(kernel_prediction.table(made[0].kernel, rows))
        _caveats(made[0].caveats)
    return 0


def _benchmark(
    words: tuple[str, ...],
    ranks: tuple[int, ...],
    run: Path | None,
    machine: str,
    rate: float,
    larger: bool,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    with ProgressReporter(quiet) as reporter:
        found = api.predict_npb(
            " ".join(words),
            ranks=ranks,
            run=run,
            machine=machine,
            rate=rate,
            larger=larger,
            cost=cost,
            listen=reporter,
        )
    made = found.prediction
    if as_json:
        print_json(npb_prediction.document(made, found.messages, found.rates) | {"doubts": found.caveats})
        return 0
    for sentence in npb_prediction.assumed(made, found.messages, found.rates):
        print_line(sentence)
    _table(npb_prediction.ranks(made))
    echo()
    for sentence in npb_prediction.best(made):
        print_line(sentence)
    if made.changes:
        print_line(grain_prediction.changed(made))
        _table(npb_prediction.levers(made))
    _caveats(found.caveats)
    return 0


def _print(prediction: Prediction, known: CostsOrigin) -> None:
    for sentence in grain_prediction.assumed(prediction, known.platform):
        print_line(sentence)
    _table(grain_prediction.ranks(prediction))
    if prediction.needed:
        _table(grain_prediction.needed(prediction))
    echo()
    for sentence in grain_prediction.best(prediction):
        print_line(sentence)
    if prediction.changes:
        print_line(grain_prediction.changed(prediction))
        _table(grain_prediction.levers(prediction))
    _caveats(grain_prediction.caveats(prediction, known))


def _caveats(caveats: Sequence[Caveat]) -> None:
    if caveats:
        echo()
    print_caveats(caveats)


def _table(table: Table) -> None:
    echo()
    print_table(table)
