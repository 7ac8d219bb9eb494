# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The key results of a survey: a line on what was measured, and a table of the costs that people ask for
first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hockney.core.case import MPI, WRITTEN
from hockney.core.catalog import PING_PONG
from hockney.core.fit import Estimate, Fit
from hockney.core.units import format_seconds
from hockney.core.wording import join_words, plural
from hockney.draw.page import Table
from hockney.mpi import title_of
from hockney.pages import loggp, undisturbed
from hockney.pages.columns import COUNT, INTERVAL, Column, columns_document, columns_table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import bandwidth, interval, no_interval_reason, quantity, rate_of
from hockney.pages.levels import place_words, ranks_on, where, where_measured
from hockney.pages.levels.compared import ping_pongs
from hockney.pages.series import message_fit


@dataclass(frozen=True)
class KeyResult:
    """A time (s), a rate (B/s) or a size (B): the typical one, and the undisturbed one if it differs. `key`
    is the quantity's name in documents, `where` the level at which two ranks meet, in words, `verdict` the
    verdict on the fit if the value comes from a fit, `size` the message's (B)."""

    key: str
    name: str
    unit: str
    typical: Estimate
    undisturbed: Estimate | None = None
    size: float | None = None
    ranks: int = 2
    where: str = ""
    verdict: str = ""
    no_interval: str = ""


def first_line(evidence: Evidence) -> str:
    """ "Within a host (sm), 2 ranks, Open MPI 5.0.11: 266 cases, 10 launches, 58 s": where the ranks were,
    how messages travelled as far as MPI reports it, and how much was measured."""
    run, machine = evidence.run, evidence.machine
    counts = sorted({m.case.ranks for m in evidence.measured})
    paths = [f"{words} ({name})" for words, name in machine.transport.items()]
    paths = paths or [place_words(level) for level in machine.levels]
    library = title_of(machine.mpi) if machine.mpi else run.launches[0].library if run.launches else ""
    ranks = f"{join_words(counts)} {'rank' if counts == [1] else 'ranks'}" if counts else ""
    words = ", ".join(filter(None, (join_words(paths) if paths else "", ranks, library)))
    seconds = sum(close.seconds for close in run.closes)
    extent = [plural(len(evidence.measured), "case"), plural(len(run.launches), "launch", "launches")]
    if seconds:
        extent.append(format_seconds(seconds))
    return f"{words[:1].upper()}{words[1:]}: {', '.join(extent)}" if counts else "Nothing was measured."


def key_results(evidence: Evidence) -> tuple[KeyResult, ...]:
    """The results of two ranks at each level at which ranks meet, then barriers and allreduces."""
    pairs = (result for level in evidence.levels for result in _between_two(level))
    return (*pairs, *_together(evidence))


def table(evidence: Evidence) -> Table | None:
    results = key_results(evidence)
    if not results:
        return None
    columns = _columns(
        levels=len({r.where for r in results}) > 1,
        undisturbed=any(r.undisturbed is not None for r in results),
    )
    return columns_table("key-results", "Key results", columns, results)


def document(evidence: Evidence) -> list[dict[str, object]]:
    """The key results as JSON objects. Times are in s, rates in B/s, sizes in B."""
    return columns_document(DOCUMENT, key_results(evidence))


DOCUMENT: tuple[Column[KeyResult], ...] = (
    Column("", lambda r: r.key, key="result"),
    Column("", lambda r: r.where, key="where"),
    Column("", lambda r: r.ranks, key="ranks"),
    Column("", lambda r: r.size, key="bytes"),
    Column("", lambda r: r.unit, key="unit"),
    Column("", lambda r: r.typical, key="typical"),
    Column("", lambda r: r.undisturbed, key="undisturbed"),
    Column("", lambda r: r.verdict, key="fit"),
)


def _columns(*, levels: bool, undisturbed: bool) -> tuple[Column[KeyResult], ...]:
    """Levels if there are several, and undisturbed costs if any of them differs."""
    columns: list[Column[KeyResult]] = [Column("result", lambda r: r.name)]
    if levels:
        columns.append(Column("where", lambda r: r.where))
    columns.append(Column("typical", lambda r: quantity(r.typical.value, r.unit), COUNT))
    columns.append(Column(INTERVAL, lambda r: r.no_interval or interval(r.typical, r.unit), COUNT))
    if undisturbed:
        columns.append(
            Column("undisturbed", lambda r: r.undisturbed and quantity(r.undisturbed.value, r.unit), COUNT)
        )
        columns.append(Column(INTERVAL, lambda r: r.undisturbed and interval(r.undisturbed, r.unit), COUNT))
    return tuple(columns)


def _between_two(level: Evidence) -> Iterator[KeyResult]:
    sweep = ping_pongs(level)
    words = where_measured(sweep[0], level) if sweep else where(level)
    results = (*_short(sweep), *_long(level, sweep), *_fitted(level))
    return (replace(result, where=words) for result in results)


def _result(m: Measured, key: str, name: str) -> KeyResult:
    """The time of a case."""
    fastest = undisturbed.differing(m.summary)
    return KeyResult(
        key,
        name,
        "s",
        m.summary.typical,
        undisturbed=None if fastest is None else fastest.cost,
        size=m.size if m.has_size else None,
        ranks=m.case.ranks,
        no_interval=no_interval_reason(m.summary),
    )


def _rate(m: Measured, key: str, name: str) -> KeyResult:
    """The bandwidth of a case: its payload over its time."""
    time = _result(m, key, name)
    fastest = None if time.undisturbed is None else rate_of(m.summary.bytes_moved, time.undisturbed)
    return replace(time, unit="B/s", typical=bandwidth(m), undisturbed=fastest)


def _short(sweep: Sequence[Measured]) -> list[KeyResult]:
    return [_result(m, "latency", f"latency, {quantity(m.size, 'B')}, one way") for m in sweep[:1]]


def _long(level: Evidence, sweep: Sequence[Measured]) -> Iterator[KeyResult]:
    """The highest bandwidth of one message at a time, the bandwidth of the largest message, and the latter
    for a message that was just written, if it is significantly lower."""
    sizes = [m for m in sweep if m.summary.bytes_moved]
    if len(sizes) < 2:
        return
    peak, largest = max(sizes, key=lambda m: bandwidth(m).value), sizes[-1]
    yield _rate(peak, "peak-bandwidth", f"peak bandwidth, at {quantity(peak.size, 'B')}")
    if largest is not peak:
        yield _rate(largest, "bandwidth", f"bandwidth at {quantity(largest.size, 'B')}")
    for m in level.of(level.catalog.workload_name(*PING_PONG), buffers=WRITTEN):
        if m.size == largest.size and _slower(m.summary.typical, largest.summary.typical):
            yield _rate(m, "bandwidth-just-written", f"bandwidth at {quantity(m.size, 'B')}, just written")


def _slower(one: Estimate, other: Estimate) -> bool:
    return one.low is not None and other.high is not None and one.low > other.high


def _fitted(level: Evidence) -> Iterator[KeyResult]:
    """Parameters of this level's fits: the size from which half of the peak is reached, and LogGP's overhead
    and gap if that fit is good or fair and does not contradict itself."""
    message = message_fit(level)
    if message is not None:
        yield from _parameter(message, "n_half_peak", "half-peak-size", "half-peak size")
    for fit in (f for f in level.fits.fits if f.model == loggp.MODEL):
        if fit.verdict in ("good", "fair") and not loggp.contradictions(fit):
            yield from _parameter(fit, "o_s", "send-overhead", "send overhead o_s (LogGP)")
            yield from _parameter(fit, "g", "message-gap", "message gap g (LogGP)")
            return


def _parameter(fit: Fit, symbol: str, key: str, name: str) -> Iterator[KeyResult]:
    """Yields nothing below the resolution of the times, where the fit's value is 0."""
    parameter = fit.parameter(symbol)
    if parameter is not None and parameter.estimate.value > 0:
        title = f"{name} ({fit.verdict} fit)" if fit.model != loggp.MODEL else name
        yield KeyResult(key, title, parameter.unit, parameter.estimate, verdict=fit.verdict)


def _together(evidence: Evidence) -> Iterator[KeyResult]:
    """A barrier and an allreduce of one double, with the most ranks and with the most on one node."""
    for operation, size, name in (("barrier", 0, "barrier"), ("allreduce", 8, "allreduce, one double")):
        largest = {
            m.case.nodes: m  # the last one has the most ranks
            for m in evidence.of_role("barrier", "collective", sync="barrier")
            if m.workload.operation == operation and m.size == size and m.case.get("algorithm", MPI) == MPI
        }
        for nodes, m in sorted(largest.items()):
            if nodes in (0, 1, max(largest)):
                yield _result(m, operation, f"{name}, {ranks_on(m.case)}")
