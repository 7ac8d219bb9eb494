# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile and its document (`--json`). Times are seconds summed over all ranks unless a
column says otherwise; sizes are bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.units import format_bytes, format_percent
from hockney.core.wording import plural
from hockney.draw.amount import in_unit_of_largest
from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    SHARE_FORMAT,
    SIZE_FORMAT,
    Column,
    Format,
    columns_document,
    point_value,
    select_columns,
    without_intervals,
)
from hockney.pages.columns import columns_table as table_of_columns
from hockney.pages.format import quantity, share_interval
from hockney.profiles.call_sites import CallSite
from hockney.profiles.efficiencies import MIN_LAUNCHES, NEEDS_TRACE, efficiencies, over_values
from hockney.profiles.explanation import PART_NAMES, Row
from hockney.profiles.profile import NO_COMMUNICATOR, Launch, RegionTime, group_rows, quantile_s
from hockney.profiles.rank_file import DISTANCES, FIRST_TIME_BIN, LANGUAGES
from hockney.profiles.results import ProfileResults
from hockney.profiles.waits import Waiting

PERCENT = Format(lambda value: format_percent(point_value(value), 2), interval=share_interval)
MAX_ROWS = 12
"""Rows of a table on a terminal."""
MIN_SHARE = 1e-3
"""Call sites with a smaller share of the time in MPI are left out on a terminal."""
MAX_CAUSES = 8
MAX_PLACE_LENGTH = 24
"""Characters of a call site in a narrow table."""
MAX_REASONS = 4
WITHHELD_PARTS = "late_sender", "late_receiver", "collective", "excess"
"""Parts that may be smaller than the cost of recording."""
MAX_PAIRS = 100_000
"""Pairs of ranks in the document; the largest ones."""


def columns_table(
    name: str, title: str, columns: Iterable[Column[Any]], rows: Iterable[Any], caption: str = ""
) -> Table:
    """A table in which each column of times uses the unit of its largest value, because small values rarely
    matter."""
    table = table_of_columns(name, title, columns, rows, caption)
    cells = zip(*(in_unit_of_largest(column) for column in zip(*table.rows, strict=True)), strict=True)
    return replace(table, rows=tuple(cells))


def if_significant(results: ProfileResults, row: Row, seconds: float) -> float | None:
    """`seconds`, or None if recording may have caused them."""
    return seconds if seconds > row.recording_s and not results.withheld else None


def site_columns(results: ProfileResults) -> tuple[Column[Row], ...]:
    site, whole = results.site, results.total.total or 1.0
    files = results.launch.files
    tick_s = files[0].clock.seconds_per_tick if files else 0.0
    return (
        Column("call site", lambda row: site(row).text),
        Column("", lambda row: site(row).frame.text, key="site"),
        Column("", lambda row: site(row).frame.file, key="file"),
        Column("", lambda row: site(row).frame.line, key="line"),
        Column("", lambda row: site(row).frame.function, key="program_function"),
        Column("", lambda row: site(row).path_text, key="call_path"),
        Column("function", lambda row: f"MPI_{row.name}", key="function"),
        Column("", lambda row: row.kind, key="kind"),
        Column("calls", lambda row: row.calls, COUNT_FORMAT, "calls"),
        Column("", lambda row: row.bytes, key="bytes"),
        Column(
            "mean size", lambda row: row.bytes / row.calls if row.bytes else None, SIZE_FORMAT, "mean_bytes"
        ),
        Column("time", lambda row: row.seconds, SECONDS_FORMAT, "time_s"),
        Column("of MPI", lambda row: row.seconds / whole, PERCENT, "share"),
        Column("mean", lambda row: row.seconds / row.calls if row.calls else None, SECONDS_FORMAT, "mean_s"),
        Column("", lambda row: quantile_s(row.bins, tick_s, 0.5), key="median_s"),
        Column("", lambda row: row.least, key="least_s"),
        Column("", lambda row: row.most, key="most_s"),
        Column("machine", lambda row: row.parts.machine or None, SECONDS_FORMAT),
        Column("", lambda row: row.parts.machine, key="machine_s"),
        Column(
            "waiting",
            lambda row: if_significant(results, row, row.parts.waiting),
            SECONDS_FORMAT,
            "waiting_s",
        ),
        Column(
            "excess", lambda row: if_significant(results, row, row.parts.excess), SECONDS_FORMAT, "excess_s"
        ),
        Column("not separated", lambda row: row.parts.not_separated or None, SECONDS_FORMAT),
        Column("", lambda row: row.parts.not_separated, key="not_separated_s"),
        Column("", lambda row: asdict(row.parts), key="parts_s"),
        Column("", lambda row: list(row.reasons), key="not_separated_because"),
        Column("", lambda row: row.why, key="not_separated_reasons"),
        Column("", lambda row: row.price_s, key="price_s"),
        Column("", lambda row: row.price_high_s, key="price_high_s"),
        Column("", lambda row: row.predicted, key="price_is_predicted"),
        Column("", lambda row: row.recording_s, key="recording_s"),
        Column("", lambda row: row.open_calls, key="open_calls"),
        Column("", lambda row: site(row).ambiguous, key="ambiguous"),
        Column("", lambda row: site(row).mixed, key="call_paths_mixed"),
        Column("", lambda row: _caller(site(row)), key="called_from"),
        Column("", lambda row: _histogram(row, tick_s), key="histogram"),
        Column("", lambda row: _details(results, row), key="details"),
        Column("", lambda row: _by_rank(results, row), key="ranks"),
    )


def _caller(site: CallSite) -> str:
    """The only line from which a wrapper is called; "" if unknown."""
    return site.caller.text if site.caller is not None else ""


def _by_rank(results: ProfileResults, row: Row) -> dict[str, Any]:
    """The number of ranks with this call, and the rank that spends most time in it."""
    seconds = row.by_rank
    longest = int(np.argmax(seconds)) if len(seconds) else 0
    return {
        "calling": int((seconds > 0).sum()),
        "longest": results.label(longest) if len(seconds) else "",
        "longest_s": float(seconds[longest]) if len(seconds) else 0.0,
    }


def _histogram(row: Row, tick_s: float) -> list[dict[str, float]]:
    """The number of calls by duration, in bins from `from_s` on, each twice as wide as the previous one."""
    return [
        {"from_s": 2.0 ** (k + FIRST_TIME_BIN) * tick_s if k else 0.0, "calls": int(calls)}
        for k, calls in enumerate(row.bins)
        if calls
    ]


def _details(results: ProfileResults, row: Row) -> list[dict[str, Any]]:
    """The calls of a call site by communicator, size class, distance and region."""
    launch = results.launch
    calls = launch.counted
    own = calls[(calls["site"] == row.site) & (calls["function"] == row.function)]
    keys = ("communicator", "size_class", "distance", "region")
    return [
        {
            "communicator": communicator_text(launch, rows),
            "size_class": size_class_text(size_class),
            "distance": distance_text(distance),
            "region": launch.region_names[region],
            "calls": int(rows["calls"].sum()),
            "bytes": float(rows["bytes"].sum()),
            "time_s": float(rows["seconds"].sum()),
            "least_s": float(rows["least"].min()),
            "most_s": float(rows["most"].max()),
            "misses": int(rows["misses"].sum()),
        }
        for (_, size_class, distance, region), rows in group_rows(own, *keys)
    ]


def distance_text(distance: int) -> str:
    return DISTANCES[distance] if distance < len(DISTANCES) else "unknown"


def sites_table(
    results: ProfileResults,
    most: int = MAX_ROWS,
    least: float = MIN_SHARE,
    without: Sequence[str] = (),
    paths: bool = False,
) -> Table:
    """The longest call sites, except those whose parts are all below the share `least`. Columns `without`,
    and columns of empty parts, are left out. `paths` adds call paths."""
    rows, whole = results.explanation.rows, results.total.total or 1.0
    shown = [row for row in rows if row.seconds >= least * whole][:most] or rows[:1]
    columns = site_columns(results)
    parts = [column for column in columns if column.heading in PART_COLUMNS]
    empty = [column.heading for column in parts if not any(map(column.value, shown))]
    columns = tuple(
        column for column in columns if column.heading and column.heading not in ("mean", *empty, *without)
    )
    if paths:
        columns += (Column("call path", lambda row: _path_text(results.site(row))),)
    caption = "Times of all ranks together."
    if "machine" not in empty:
        caption += " Machine: software overhead, transfer and contention."
    if any(
        if_significant(results, row, part) is None
        for row in shown
        for part in (row.parts.waiting, row.parts.excess)
        if part
    ):
        caption += " Waiting and excess below the cost of recording are left out."
    if len(rows) > len(shown):
        others = sum(row.seconds for row in rows[len(shown) :]) / whole
        more = plural(len(rows) - len(shown), "more call site")
        caption += (
            f" {more} {'takes' if len(rows) == len(shown) + 1 else 'take'} {format_percent(others, 2)}."
        )
    return columns_table("call-sites", "Call sites", columns, shown, caption)


def brief_sites_table(results: ProfileResults, most: int = 8) -> Table:
    """The longest call sites in a few columns. Function names are left out if lines are known."""
    rows, whole = results.explanation.rows, results.total.total
    shown = [row for row in rows if row.seconds >= MIN_SHARE * (whole or 1.0)][:most] or rows[:1]
    known = site_columns(results)
    parts = [
        column.heading
        for column in known
        if column.heading in ("waiting", "excess") and any(map(column.value, shown))
    ]
    place = Column[Row]("call site", lambda row: end_of_place(results.site(row).place))
    columns = [place, *select_columns(known, "function", "time", *parts)]
    return columns_table("longest-call-sites", "Call sites", columns, shown, "Times of all ranks together.")


def end_of_place(place: str) -> str:
    """The end of a long place, which is more informative than its beginning."""
    return place if len(place) <= MAX_PLACE_LENGTH else f"...{place[3 - MAX_PLACE_LENGTH :]}"


def _path_text(site: CallSite) -> str:
    return f"{site.path_text}, and others" if site.mixed else site.path_text


PART_COLUMNS = ("machine", "waiting", "excess", "not separated")


@dataclass(frozen=True)
class Metric:
    """A POP metric; `depth` is its level in the tree."""

    name: str
    key: str
    value: Estimate
    depth: int
    reliable: bool


_METRICS = (
    ("parallel efficiency", "parallel", 0),
    ("load balance", "load_balance", 1),
    ("between hosts", "between_hosts", 2),
    ("within hosts", "within_hosts", 2),
    ("communication efficiency", "communication", 1),
)
"""Names, fields of `Efficiencies` and levels in the tree; those of level 2 are of several hosts."""
METRICS: tuple[Column[Metric], ...] = (
    Column("metric", lambda m: "  " * m.depth + m.name + ("" if m.reliable else " (not reliable)")),
    Column("", lambda m: m.reliable, key="reliable"),
    Column("", lambda m: m.key, key="metric"),
    Column("value", lambda m: m.value, SHARE_FORMAT, "value", INTERVAL_HEADING),
)


def metrics(results: ProfileResults) -> list[Metric]:
    found = [efficiencies(launch) for launch in results.profile.launches]
    return [
        Metric(name, key, over_values([getattr(each, key) for each in found]), depth, results.is_reliable)
        for name, key, depth in _METRICS
        if depth < 2 or results.launch.hosts > 1
    ]


def metrics_table(results: ProfileResults) -> Table:
    columns = METRICS
    if len(results.profile.launches) < MIN_LAUNCHES:
        columns = without_intervals(METRICS)
    return columns_table("efficiencies", "Efficiencies (POP)", columns, metrics(results), NEEDS_TRACE)


def part_columns(results: ProfileResults) -> tuple[Column[str], ...]:
    """The columns for parts of the time in MPI. A row is the name of a field of `Parts`."""
    return (
        Column("part", lambda key: PART_NAMES[key]),
        Column("", lambda key: key, key="part"),
        Column("time", lambda key: getattr(results.total, key), SECONDS_FORMAT, "seconds"),
        Column("of MPI", lambda key: results.part_share(attrgetter(key)), PERCENT, "share", INTERVAL_HEADING),
    )


def parts_table(results: ProfileResults) -> Table:
    withheld = WITHHELD_PARTS if results.withheld else ()
    shares = {key: results.part_share(attrgetter(key)).value for key in PART_NAMES}
    keys = [key for key, share in shares.items() if share >= MIN_SHARE and key not in withheld]
    columns = part_columns(results)
    if len(results.profile.launches) < MIN_LAUNCHES:
        columns = without_intervals(columns)
    caption = "Of all ranks together."
    if results.withheld:
        caption += " Waiting and excess, which are below the cost of recording, are left out."
    line = unseparated_line(results)
    if line:
        caption += f" {line}"
    return columns_table("parts", "Time in MPI", columns, keys, caption)


def unseparated_line(results: ProfileResults) -> str:
    """The main reasons why time is not separated, with their times."""
    least = 0.01 * results.total.total
    shown = [each for each in results.unseparated if each.seconds >= least][:MAX_REASONS]
    whys = "; ".join(f"{each.text} ({quantity(each.seconds, 's')})" for each in shown)
    return f"Not separated: {whys}." if whys else ""


def cause_columns(results: ProfileResults, brief: bool = False) -> list[Column[Waiting]]:
    """The columns of causes. `brief` leaves out functions whose lines are known."""
    launch = results.launch

    def place(site: int) -> str:
        return end_of_place(launch.sites[site].place) if brief else launch.sites[site].text

    return [
        Column("waiting", lambda c: PART_NAMES[c.kind], key="kind"),
        Column("at", lambda c: place(c.site)),
        Column("", lambda c: launch.sites[c.site].frame.text, key="site"),
        Column("in", lambda c: f"MPI_{launch.function(c.function)}", key="function"),
        Column("ranks", lambda c: len(c.waiting), COUNT_FORMAT),
        Column("", lambda c: [results.label(k) for k in c.waiting], key="waiting_ranks"),
        Column("for rank", lambda c: results.label(c.by_rank), COUNT_FORMAT, "for_rank"),
        Column("which is late at", lambda c: place(c.by_site)),
        Column("", lambda c: launch.sites[c.by_site].frame.text, key="late_site"),
        Column("time", lambda c: c.seconds, SECONDS_FORMAT, "seconds"),
    ]


def causes_table(results: ProfileResults, most: int = MAX_CAUSES, brief: bool = False) -> Table | None:
    columns, rows = cause_columns(results, brief), results.causes[:most]
    caption = "Estimated from the messages and collectives that were timed individually."
    return columns_table("waiting", "Who waits for whom", columns, rows, caption) if rows else None


def rank_columns(results: ProfileResults) -> tuple[Column[int], ...]:
    """The columns for ranks. A row is the index of a rank in the launch."""
    ranks, waits = results.launch.ranks, results.explanation.waits
    waits_s, waited_for_s = waits.of_ranks(len(ranks)).tolist(), waits.caused_by(len(ranks)).tolist()
    return (
        Column("rank", lambda k: ranks[k].label, COUNT_FORMAT, "rank"),
        Column("host", lambda k: ranks[k].hostname, key="host"),
        Column("core", lambda k: ranks[k].core if ranks[k].core >= 0 else None, COUNT_FORMAT, "core"),
        Column("elapsed", lambda k: ranks[k].elapsed_s, SECONDS_FORMAT, "elapsed_s"),
        Column("computation", lambda k: ranks[k].outside_s, SECONDS_FORMAT, "computation_s"),
        Column("in MPI", lambda k: ranks[k].in_mpi_s, SECONDS_FORMAT, "in_mpi_s"),
        Column("waits", lambda k: waits_s[k], SECONDS_FORMAT, "waiting_s"),
        Column("others wait", lambda k: waited_for_s[k], SECONDS_FORMAT, "waited_for_s"),
        Column("calls", lambda k: ranks[k].calls, COUNT_FORMAT, "calls"),
        Column("", lambda k: ranks[k].finished, key="finished"),
        Column("", lambda k: ranks[k].threads, key="threads"),
    )


def ranks_table(results: ProfileResults) -> Table:
    return columns_table("ranks", "Ranks", rank_columns(results), range(len(results.launch.ranks)))


REGIONS: tuple[Column[RegionTime], ...] = (
    Column("region", lambda r: r.name, key="region"),
    Column("entered", lambda r: r.entered, COUNT_FORMAT, "entered"),
    Column("time", lambda r: r.seconds, SECONDS_FORMAT, "seconds"),
    Column("in MPI", lambda r: r.in_mpi_s, SECONDS_FORMAT, "in_mpi_s"),
    Column("of it in MPI", lambda r: r.in_mpi_s / r.seconds if r.seconds else None, SHARE_FORMAT),
)


def regions_table(results: ProfileResults) -> Table | None:
    rows = results.launch.regions
    return columns_table("regions", "Regions", REGIONS, rows, "Of all ranks together.") if rows else None


def group_columns(launch: Launch) -> tuple[Column[np.ndarray], ...]:
    """The columns for groups of calls of one function, over all call sites and ranks, with equal
    communicator, size class, distance and language."""

    def language(number: int) -> str:
        return LANGUAGES[number] if number < len(LANGUAGES) else ""

    return (
        Column("function", lambda calls: f"MPI_{launch.function(calls['function'][0])}", key="function"),
        Column("communicator", lambda calls: communicator_text(launch, calls), key="communicator"),
        Column("size", lambda calls: size_class_text(int(calls["size_class"][0])), key="size_class"),
        Column("distance", lambda calls: distance_text(calls["distance"][0]), key="distance"),
        Column("", lambda calls: language(calls["language"][0]), key="language"),
        Column("calls", lambda calls: int(calls["calls"].sum()), COUNT_FORMAT, "calls"),
        Column("", lambda calls: float(calls["bytes"].sum()), key="bytes"),
        Column("time", lambda calls: float(calls["seconds"].sum()), SECONDS_FORMAT, "time_s"),
    )


def communicator_text(launch: Launch, calls: np.ndarray) -> str:
    """The common communicator of `calls`; "" if they have none."""
    place = int(calls["communicator"][0])
    return launch.communicators[place].text if place else ""


def size_class_text(size_class: int) -> str:
    """ "512 B to 1 KiB"."""
    if size_class <= 1:
        return "0 B" if size_class else ""
    low, high = 2 ** (size_class - 2), 2 ** (size_class - 1)
    return f"{format_bytes(low)} to {format_bytes(high)}" if high > low + 1 else format_bytes(low)


def groups(launch: Launch) -> list[np.ndarray]:
    keys = ("function", "communicator", "size_class", "distance", "language")
    found = [calls for _, calls in group_rows(launch.counted, *keys)]
    return sorted(found, key=lambda calls: -calls["seconds"].sum())


def groups_table(results: ProfileResults, most: int = 200) -> Table:
    columns, rows = group_columns(results.launch), groups(results.launch)[:most]
    return columns_table("functions", "Functions, communicators and sizes", columns, rows)


RECORDING: tuple[Column[tuple[str, tuple[float, float]]], ...] = (
    Column("calls", lambda each: each[0], key="kind"),
    Column("without recording", lambda each: each[1][0], SECONDS_FORMAT, "bare_s"),
    Column("added", lambda each: each[1][1], SECONDS_FORMAT, "added_s"),
)
"""The cost of recording a call of each kind, as `Launch.overheads` has it."""


def recording_table(results: ProfileResults) -> Table | None:
    rows = results.launch.overheads.items()
    caption = "Medians over the ranks, each of which measured it when it finalised MPI."
    return columns_table("recording", "Cost of recording a call", RECORDING, rows, caption) if rows else None


def terminal_tables(results: ProfileResults) -> tuple[Table, ...]:
    """The tables that a terminal shows below the headline."""
    tables = (
        metrics_table(results),
        parts_table(results),
        sites_table(results) if results.explanation.rows else None,
        causes_table(results),
        regions_table(results),
    )
    return tuple(table for table in tables if table is not None)


def document(results: ProfileResults) -> dict[str, Any]:
    """The profile as JSON, in seconds and bytes. Intervals are null if there are too few launches."""
    profile, launch, explanation = results.profile, results.launch, results.explanation
    waits = explanation.waits
    columns, sites = site_columns(results), explanation.rows
    return {
        "schema": 1,
        "profile": str(profile.folder),
        "command": list(profile.manifest.command),
        "program": profile.manifest.program,
        "started": profile.manifest.started,
        "mpi": profile.manifest.mpi,
        "survey": explanation.costs.where if explanation.costs else None,
        "headline": list(results.headline),
        "launches": len(profile.launches),
        "typical_launch": launch.entry.folder,
        "ranks_count": len(launch.ranks),
        "hosts": launch.hosts,
        "elapsed_s": results.elapsed,
        "mpi_share": results.mpi_share,
        "in_mpi_s": explanation.total.total,
        "parts": columns_document(part_columns(results), PART_NAMES),
        "not_separated": [
            {"code": each.code, "because": each.text, "seconds": each.seconds} for each in results.unseparated
        ],
        "slow_operations": list(results.slow),
        "efficiencies": columns_document(METRICS, metrics(results)),
        "look_first": next(
            (columns_document(columns, [row])[0] for row in sites if row is results.first), None
        ),
        "call_sites": columns_document(columns, sites),
        "functions": columns_document(group_columns(launch), groups(launch)),
        "waiting": columns_document(cause_columns(results), results.causes),
        "clocks": {
            "messages": waits.matched.messages,
            "received_before_sent": waits.matched.violations,
            "worst_s": waits.matched.worst_s,
            "across_hosts": waits.matched.across_hosts,
            "believed": waits.is_reliable,
            "disagree": waits.matched.doubted,
        },
        "ranks": columns_document(rank_columns(results), range(len(launch.ranks))),
        "matrix": _matrix(results),
        "communicators": [
            {"name": each.text, "size": each.size, "made_by": each.made_by}
            for each in launch.communicators
            if each is not NO_COMMUNICATOR
        ],
        "regions": columns_document(REGIONS, launch.regions),
        "recording": {
            "per_call": columns_document(RECORDING, launch.overheads.items()),
            "total_s": explanation.recording_s if launch.overheads else None,
            "share": results.recording_share if launch.overheads else None,
            "exceeds_findings": results.withheld,
            "measured_ratio": results.overhead,
        },
        "warnings": list(results.caveats),
    }


def _matrix(results: ProfileResults) -> list[dict[str, Any]]:
    """The pairs of ranks that exchanged messages."""
    launch = results.launch
    senders, receivers = np.nonzero((launch.sent > 0) | (launch.messages > 0))
    order = np.argsort(-launch.sent[senders, receivers], kind="stable")[:MAX_PAIRS]
    return [
        {
            "from": launch.ranks[i].label,
            "to": launch.ranks[j].label,
            "messages": int(launch.messages[i, j]),
            "bytes": float(launch.sent[i, j]),
        }
        for i, j in zip(senders[order].tolist(), receivers[order].tolist(), strict=True)
    ]
