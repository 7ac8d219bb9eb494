# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The key results of a survey: a line on what was measured, and a table of the most important costs."""

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
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, Column, columns_document, columns_table
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import bandwidth, interval, no_interval_reason, quantity, rate_from_time
from hockney.pages.levels import case_level_phrase, evidence_level_phrase, level_phrase, ranks_text
from hockney.pages.levels.compared import ping_pongs
from hockney.pages.series import message_fit


@dataclass(frozen=True)
class KeyResult:
    """A time (s), a rate (B/s) or a size (B). `typical` is its typical value; `undisturbed` is set if it
    differs. `key` is the name of the quantity in documents, `level_phrase` describes the level at which two
    ranks meet, `verdict` is the verdict on the fit if the value comes from a fit, and `size` is the message
    size (B)."""

    key: str
    name: str
    unit: str
    typical: Estimate
    undisturbed: Estimate | None = None
    size: float | None = None
    ranks: int = 2
    level_phrase: str = ""
    verdict: str = ""
    no_interval: str = ""


def overview_line(evidence: Evidence) -> str:
    """Return a line such as "Within a host (sm), 2 ranks, Open MPI 5.0.11: 266 cases, 10 launches, 58 s". It
    states where the ranks were, how messages travelled as far as MPI reports it, and how much was
    measured."""
    run, machine = evidence.run, evidence.machine
    counts = sorted({measured_case.case.ranks for measured_case in evidence.measured})
    transports = [f"{place} ({name})" for place, name in machine.transport.items()]
    transports = transports or [level_phrase(level) for level in machine.levels]
    library = title_of(machine.mpi) if machine.mpi else run.launches[0].library if run.launches else ""
    ranks = f"{join_words(counts)} {'rank' if counts == [1] else 'ranks'}" if counts else ""
    place = ", ".join(filter(None, (join_words(transports) if transports else "", ranks, library)))
    seconds = sum(close.seconds for close in run.closes)
    amounts = [plural(len(evidence.measured), "case"), plural(len(run.launches), "launch", "launches")]
    if seconds:
        amounts.append(format_seconds(seconds))
    return f"{place[:1].upper()}{place[1:]}: {', '.join(amounts)}" if counts else "Nothing was measured."


def key_results(evidence: Evidence) -> tuple[KeyResult, ...]:
    """Return the results of two ranks at each level at which ranks meet, then those of barriers and
    allreduces."""
    pairs = (result for level in evidence.levels for result in _two_rank_results(level))
    return (*pairs, *_collective_results(evidence))


def table(evidence: Evidence) -> Table | None:
    results = key_results(evidence)
    if not results:
        return None
    columns = _table_columns(
        levels=len({r.level_phrase for r in results}) > 1,
        undisturbed=any(r.undisturbed is not None for r in results),
    )
    return columns_table("key-results", "Key results", columns, results)


def document(evidence: Evidence) -> list[dict[str, object]]:
    """Return the key results as JSON objects, with times in s, rates in B/s and sizes in B."""
    return columns_document(DOCUMENT_COLUMNS, key_results(evidence))


DOCUMENT_COLUMNS: tuple[Column[KeyResult], ...] = (
    Column("", lambda r: r.key, key="result"),
    Column("", lambda r: r.level_phrase, key="where"),
    Column("", lambda r: r.ranks, key="ranks"),
    Column("", lambda r: r.size, key="bytes"),
    Column("", lambda r: r.unit, key="unit"),
    Column("", lambda r: r.typical, key="typical"),
    Column("", lambda r: r.undisturbed, key="undisturbed"),
    Column("", lambda r: r.verdict, key="fit"),
)


def _table_columns(*, levels: bool, undisturbed: bool) -> tuple[Column[KeyResult], ...]:
    """Return the columns, with levels if there is more than one, and undisturbed costs if any of them
    differs."""
    columns: list[Column[KeyResult]] = [Column("result", lambda r: r.name)]
    if levels:
        columns.append(Column("where", lambda r: r.level_phrase))
    columns.append(Column("typical", lambda r: quantity(r.typical.value, r.unit), COUNT_FORMAT))
    columns.append(
        Column(INTERVAL_HEADING, lambda r: r.no_interval or interval(r.typical, r.unit), COUNT_FORMAT)
    )
    if undisturbed:
        columns.append(
            Column(
                "undisturbed", lambda r: r.undisturbed and quantity(r.undisturbed.value, r.unit), COUNT_FORMAT
            )
        )
        columns.append(
            Column(
                INTERVAL_HEADING, lambda r: r.undisturbed and interval(r.undisturbed, r.unit), COUNT_FORMAT
            )
        )
    return tuple(columns)


def _two_rank_results(level: Evidence) -> Iterator[KeyResult]:
    sweep = ping_pongs(level)
    level_phrase = case_level_phrase(sweep[0], level) if sweep else evidence_level_phrase(level)
    results = (*_latency_results(sweep), *_bandwidth_results(level, sweep), *_fitted_results(level))
    return (replace(result, level_phrase=level_phrase) for result in results)


def _time_result(measured_case: MeasuredCase, key: str, name: str) -> KeyResult:
    """Return the time of a case."""
    undisturbed_cost = undisturbed.differing_undisturbed(measured_case.summary)
    return KeyResult(
        key,
        name,
        "s",
        measured_case.summary.typical,
        undisturbed=None if undisturbed_cost is None else undisturbed_cost.cost,
        size=measured_case.size if measured_case.has_size else None,
        ranks=measured_case.case.ranks,
        no_interval=no_interval_reason(measured_case.summary),
    )


def _bandwidth_result(measured_case: MeasuredCase, key: str, name: str) -> KeyResult:
    """Return the bandwidth of a case: its payload divided by its time."""
    time_result = _time_result(measured_case, key, name)
    undisturbed_rate = (
        None
        if time_result.undisturbed is None
        else rate_from_time(measured_case.summary.bytes_moved, time_result.undisturbed)
    )
    return replace(time_result, unit="B/s", typical=bandwidth(measured_case), undisturbed=undisturbed_rate)


def _latency_results(sweep: Sequence[MeasuredCase]) -> list[KeyResult]:
    return [_time_result(m, "latency", f"latency, {quantity(m.size, 'B')}, one way") for m in sweep[:1]]


def _bandwidth_results(level: Evidence, sweep: Sequence[MeasuredCase]) -> Iterator[KeyResult]:
    """Yield the highest bandwidth of single messages and the bandwidth of the largest message. The latter
    also appears for just-written messages if that is significantly lower."""
    sizes = [measured_case for measured_case in sweep if measured_case.summary.bytes_moved]
    if len(sizes) < 2:
        return
    peak_case, largest_case = max(sizes, key=lambda measured_case: bandwidth(measured_case).value), sizes[-1]
    yield _bandwidth_result(
        peak_case, "peak-bandwidth", f"peak bandwidth, at {quantity(peak_case.size, 'B')}"
    )
    if largest_case is not peak_case:
        yield _bandwidth_result(largest_case, "bandwidth", f"bandwidth at {quantity(largest_case.size, 'B')}")
    for measured_case in level.of(level.catalog.workload_name(*PING_PONG), buffers=WRITTEN):
        if measured_case.size == largest_case.size and _is_slower(
            measured_case.summary.typical, largest_case.summary.typical
        ):
            yield _bandwidth_result(
                measured_case,
                "bandwidth-just-written",
                f"bandwidth at {quantity(measured_case.size, 'B')}, just written",
            )


def _is_slower(time: Estimate, reference: Estimate) -> bool:
    return time.low is not None and reference.high is not None and time.low > reference.high


def _fitted_results(level: Evidence) -> Iterator[KeyResult]:
    """Yield parameters of this level's fits: the size at which half of the peak bandwidth is reached, and
    LogGP's overhead and gap if that fit is good or fair and does not contradict itself."""
    message = message_fit(level)
    if message is not None:
        yield from _parameter_result(message, "n_half_peak", "half-peak-size", "half-peak size")
    for fit in (f for f in level.fits.fits if f.model == loggp.MODEL):
        if fit.verdict in ("good", "fair") and not loggp.contradictions(fit):
            yield from _parameter_result(fit, "o_s", "send-overhead", "send overhead o_s (LogGP)")
            yield from _parameter_result(fit, "g", "message-gap", "message gap g (LogGP)")
            return


def _parameter_result(fit: Fit, symbol: str, key: str, name: str) -> Iterator[KeyResult]:
    """Yield the parameter as a result, or nothing if its value is 0, which is below the resolution of the
    times."""
    parameter = fit.parameter(symbol)
    if parameter is not None and parameter.estimate.value > 0:
        title = f"{name} ({fit.verdict} fit)" if fit.model != loggp.MODEL else name
        yield KeyResult(key, title, parameter.unit, parameter.estimate, verdict=fit.verdict)


def _collective_results(evidence: Evidence) -> Iterator[KeyResult]:
    """Yield the times of a barrier and an allreduce of one double, with the highest rank count, and with the
    highest on one node."""
    for operation, size, name in (("barrier", 0, "barrier"), ("allreduce", 8, "allreduce, one double")):
        largest = {
            m.case.nodes: m  # the last one has the most ranks
            for m in evidence.of_role("barrier", "collective", sync="barrier")
            if m.workload.operation == operation and m.size == size and m.case.get("algorithm", MPI) == MPI
        }
        for nodes, m in sorted(largest.items()):
            if nodes in (0, 1, max(largest)):
                yield _time_result(m, operation, f"{name}, {ranks_text(m.case)}")
