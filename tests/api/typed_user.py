# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A user's program, which mypy checks with the sources (`files` in pyproject.toml). It is not run.

Lines with `type: ignore` are mistakes: mypy fails if it would not find them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import hockney

if TYPE_CHECKING:
    from hockney.core.fit import Verdict


def measuring() -> None:
    run: hockney.Run = hockney.run(
        "pingpong bytes=0:1MiB", budget="20s", launches=4, seed=1, out=Path("x"), machine="fake"
    )
    hockney.survey(ranks=[2, 4], sizes="0:64KiB", variables={"A": "1"}, listen=lambda event: None)
    hockney.resume(run, budget="5s")
    hockney.RunOptions(budget=30.0, ranks=(2, 4))
    hockney.run("barrier", bugdet=3)  # type: ignore[call-arg]
    hockney.run("barrier", budget=[3])  # type: ignore[arg-type]
    hockney.RunOptions(budget="30s")  # type: ignore[arg-type]
    try:
        hockney.verify(run)[0].verdict.upper()
    except hockney.Inconclusive as error:
        code: str = error.code
        print(code, error.fields["name"])
    except hockney.RunInterrupted as stopped:
        print(stopped.folder)


def measuring_in_turns() -> None:
    sides: hockney.Comparison = hockney.compare_interleaved(
        "--mpi openmpi",
        {"mpi": Path("/opt/mpi"), "variables": {"UCX_TLS": "tcp"}},
        budget="2m",
        tolerance="2%",
    )
    hockney.resume_interleaved("runs/compared", budget=30).verdict.upper()
    hockney.compare_interleaved("--bind", 3)  # type: ignore[arg-type]
    print(sides.effect and sides.effect.state)


async def in_an_event_loop() -> hockney.Run:
    return await asyncio.to_thread(hockney.run, "barrier", budget=5)


def reading(run: hockney.Run) -> None:
    hockney.open(run, cost="undisturbed")
    hockney.open("x", cost="fastest")  # type: ignore[arg-type]
    time_s: list[float] = [summary.typical.value for summary in run.summaries]
    times_s: list[list[float]] = [record.times_s for record in run.records]
    verdict: Verdict = run.fits.fits[0].verdict
    model: hockney.FittedModel = run.model("pingpong", ranks=2, buffers="hot")
    estimate: hockney.Estimate = model(bytes=40_000)
    low: float = model("40kB").low  # type: ignore[assignment]
    print(time_s, times_s, verdict, estimate.value, low, model(None))  # type: ignore[arg-type]
    print(model.table(bytes=[8, "1KiB"]).columns, model.frame("pandas", bytes="8:64"), run.models[0].fit)
    print(run.frame("records", "polars"), run.table("parameters").columns["value"])
    run.frame("medians")  # type: ignore[arg-type]
    run.figure(run.figure_names[0]).update_layout(height=300)
    forecast: hockney.Forecast = hockney.predict(100e-6, "40kB", serial="1%", ranks=[2, 4], run=run)
    shares: list[float] = [row.efficiency.value for row in forecast.rows]
    print(shares, forecast.frame())


def comparing(run: hockney.Run) -> bool:
    comparison: hockney.Comparison = hockney.compare([run, "x"], Path("y"), tolerance="5%")
    for operation in comparison.operations:
        print(operation.workload, operation.ratio.value, operation.state)
    for change in comparison.changes:
        print(change.case.line, change.case["bytes"], change.more_launches)
    print([(difference.name, difference.a, difference.b) for difference in comparison.differences])
    comparison.figure("changes").write_html(str(comparison.report("compared.html")))
    comparison.distribution(comparison.changes[0])
    hockney.compare("x")  # type: ignore[call-arg]
    print(hockney.nothing)  # type: ignore[attr-defined]
    return comparison.verdict == "slowest"  # type: ignore[comparison-overlap]


def archiving(run: hockney.Run) -> hockney.Run:
    history = hockney.History("archive")
    history.add(run, Path("runs"))
    print([entry.name for entry in history.runs(since="30d")], history.frame("polars", machine="node*"))
    print(history.check(run, tolerance="5%").verdict.upper(), history.show("barrier").frame())
    tried = hockney.compare_interleaved("--mpi openmpi", {"mpi": "mpich"}, budget="2m", tolerance="2%")
    print(tried.verdict, hockney.import_logs("osu.log", ranks=2)[0].summaries)
    hockney.compare_interleaved("--mpi openmpi")  # type: ignore[call-arg]
    return history.open(history.runs()[-1])
