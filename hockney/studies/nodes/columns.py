# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): what is named slow, all nodes, and what the run would
have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    RATIO_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
    select_columns,
    text_format,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_share, quantity
from hockney.studies.nodes.effects import measure_title
from hockney.studies.nodes.results import NodesResults, Power, Slowdown, State
from hockney.studies.nodes.tables import TITLES

STATE_WORDS: Mapping[State, str] = {
    "slow": "slow",
    "usual": "as usual",
    "undecided": "undecided",
    "unknown": "no interval",
}
MAX_ROWS = 20
"""The maximum number of rows of a table on a terminal, and of a list of links."""
P_FORMAT = Format(lambda p: "< 0.0001" if p < 1e-4 else f"{p:.4f}")
DETECTABLE_FORMAT = Format(lambda value: f"{value:.2f}" if value >= 1 else f"{format_share(value)} delayed")
"""A ratio of times, or a share of messages."""
RATIO_NOTE = "Times relative to the median of all."

SLOWDOWN_COLUMNS: tuple[Column[Slowdown], ...] = (
    Column("name", lambda s: s.name),
    Column("", lambda s: list(s.nodes), key="nodes"),
    Column("measure", lambda s: s.measure, Format(measure_title, numeric=False), "measure"),
    Column("times as long", lambda s: s.ratio, RATIO_FORMAT, "ratio", INTERVAL_HEADING),
    Column("p", lambda s: s.p, P_FORMAT, "p"),
    Column("would be named from", lambda s: s.detectable, DETECTABLE_FORMAT, "detectable"),
    Column("", lambda s: s.launches, COUNT_FORMAT, "launches"),
    Column("", lambda s: s.delayed, COUNT_FORMAT, "delayed"),
    Column("", lambda s: s.repetitions, COUNT_FORMAT, "repetitions"),
    Column("verdict", lambda s: s.state, text_format(STATE_WORDS), "verdict"),
    Column("", lambda s: s.kind if s.state == "slow" else None, key="fault"),
)
POWER_COLUMNS: tuple[Column[Power], ...] = (
    Column("measure", lambda p: p.measure, text_format(TITLES), "measure"),
    Column("a slow node", lambda p: p.node, DETECTABLE_FORMAT, "node", missing="unknown"),
    Column("a slow link", lambda p: p.link, DETECTABLE_FORMAT, "link"),
    Column("a slow switch", lambda p: p.switch, DETECTABLE_FORMAT, "switch"),
    Column("launches", lambda p: p.launches, COUNT_FORMAT, "launches"),
)


def slow_table(results: NodesResults) -> Table | None:
    """The slow switches, nodes and links, by each measure that names them."""
    rows = [
        s
        for slow in (results.slow_switches, results.slow_nodes)
        for slowdowns in slow.values()
        for s in slowdowns
    ] + list(results.slow_links)
    columns = select_columns(SLOWDOWN_COLUMNS, "name", "measure", "times as long", "p", "would be named from")
    caption = (
        f"{RATIO_NOTE} p: adjusted for all nodes, all switches (Benjamini and Hochberg) and all links (Holm)."
    )
    title = "Slow switches, nodes and links" if results.slow_switches else "Slow nodes and links"
    return columns_table("nodes-slow", title, columns, rows, caption) if rows else None


def ranking_table(results: NodesResults, limit: int = 0) -> Table | None:
    """A row for each node, the slowest first, with its time by each measure."""
    nodes = results.ranking[: limit or None]
    measures = list(dict.fromkeys(s.measure for s in results.slowdowns))
    slowdowns = {node: results.node_slowdowns(node) for node in nodes}
    columns: list[Column[str]] = [Column("node", lambda node: node)]
    for measure in measures:
        columns.append(
            Column(
                TITLES[measure],
                lambda node, m=measure: s.ratio if (s := slowdowns[node].get(m)) else None,  # type: ignore[misc]
                RATIO_FORMAT,
            )
        )
    columns.append(Column("verdict", lambda node: _node_verdict(slowdowns[node])))
    title = "Nodes, the slowest first"
    omitted = len(results.ranking) - len(nodes)
    caption = RATIO_NOTE + (f" {omitted} more nodes are in the report." if omitted else "")
    return columns_table("nodes-ranking", title, columns, nodes, caption) if nodes else None


def _node_verdict(slowdowns: Mapping[str, Slowdown]) -> str:
    states = {s.state for s in slowdowns.values()}
    if "slow" in states:
        slow = [TITLES[measure] for measure, s in slowdowns.items() if s.state == "slow"]
        return f"slow: {', '.join(slow)}"
    return STATE_WORDS[
        "usual" if states == {"usual"} else "unknown" if states == {"unknown"} else "undecided"
    ]


def power_table(results: NodesResults) -> Table | None:
    """What the run would have named."""

    def typical(power: Power) -> str:
        seconds, size = results.typical[power.measure], results.payload_bytes(power.measure)
        return quantity(size / seconds, "B/s") if size else quantity(seconds, "s")

    shown = (
        POWER_COLUMNS[1:]
        if results.switches
        else select_columns(POWER_COLUMNS[1:], "a slow node", "a slow link", "launches")
    )
    columns = (POWER_COLUMNS[0], Column("median", typical), *shown)
    caption = (
        "Smallest slowdown, in times as long, that 95% of such runs would name, or share of delayed "
        "messages; for the median node, link and switch."
    )
    return columns_table("nodes-power", "What this run would have named", columns, results.powers, caption)


def summary(evidence: Evidence) -> Sequence[Table]:
    """The tables on a terminal."""
    results = NodesResults.of(evidence)
    tables = (slow_table(results), power_table(results), ranking_table(results, MAX_ROWS))
    return tuple(table for table in tables if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The names of slow nodes, links and switches; every node and switch and every named link by each
    measure, with its time relative to the median and an adjusted p-value; and the smallest ratios that the
    run would have named. null if unknown."""
    results = NodesResults.of(evidence)
    return {
        "slow_nodes": list(results.slow_nodes),
        "slow_links": [list(nodes) for nodes in dict.fromkeys(link.nodes for link in results.slow_links)],
        "slow_switches": list(results.slow_switches),
        "has_groups": results.has_groups,
        "nodes": columns_document(SLOWDOWN_COLUMNS, results.slowdowns),
        "links": columns_document(SLOWDOWN_COLUMNS, results.slow_links),
        "switches": [
            {"switch": s.switch, **row}
            for s, row in zip(
                results.switches, columns_document(SLOWDOWN_COLUMNS, results.switches), strict=True
            )
        ],
        "power": columns_document(POWER_COLUMNS, results.powers),
        "typical_s": dict(results.typical),
    }
