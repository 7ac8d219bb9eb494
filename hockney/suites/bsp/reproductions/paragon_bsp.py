# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of BSP and BPRAM on the Paragon's meshes, tables 1 and 2 of Juurlink (1998), and the times
to which they are fitted, figures 3 to 5.

The paper's g is mostly the work of its BSP library for each word, and its l mostly the work of its BPRAM
library. Both are part of the description, fitted to the numbers of the 4x2 mesh. The other meshes are
predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hockney import reference
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure, Series
from hockney.reproductions import pages
from hockney.reproductions.compared import CLOSE_ERRORS, Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.bsp.models.parameters import parameter_value, permutation_fit, relation_fit
from hockney.suites.bsp.models.programs import WORD_BYTES
from hockney.suites.bsp.studies.bsp_parameters.results import MESHES, paper_rows

PAPER_VALUES = reference.published("paragon")
BSP_MESHES = tuple(mesh for mesh in MESHES if mesh != "10x10")
"""Meshes of table 1."""
WORKLOADS = ("h_relation", "bsp_sync", "block_permutation")
RELATION_WORDS = (1024, 4096, 16384)
"""Words of relations, large enough for random destinations to reach all other processors."""
SMALLEST_MESH = "4x2"
"""The mesh to which the costs of the libraries are fitted."""
SINGLE_WORDS = (16, 64, 256)
"""Number of words that are sent as single messages, on the smallest mesh."""
PACKETS = (64, 256)
BLOCKS = (1024, 16384, 65536)
MESSAGES = (64, 1024, 16384, 65536, 262144)
"""Bytes of messages between two processors."""
COMBINING_GAIN_RANGE = tuple(
    PAPER_VALUES.row(f"paragon/bsp-library/combining/{end}").si for end in ("low", "high")
)
"""The printed factors by which g increases if each packet is sent immediately."""
SYMBOLS = {"g": ("bsp", "s"), "L": ("bsp", "s"), "sigma": ("bpram", "s/B"), "l": ("bpram", "s")}
"""Model and unit of the printed parameters."""
TABLES = {"bsp": "table 1: BSP parameters", "bpram": "table 2: BPRAM parameters"}
PARTS = ("write", "exchange", "read")
"""Metrics of an h-relation, whose values are its parts."""


def part_name(mesh: str) -> str:
    return f"bsp-{mesh}"


def machine_name(mesh: str) -> str:
    return "paragon" if mesh == "10x10" else f"paragon-{mesh}"


def case_lines(mesh: str) -> Iterator[str]:
    """Yields the cases of both tables."""
    p = MESHES[mesh]
    suffix = f"sync=window ranks={p}"
    for size in MESSAGES:
        yield f"pingpong bytes={size} ranks=2"
    for size in BLOCKS:
        yield f"block_permutation bytes={size} {suffix}"
    for ranks in (2, p) if mesh in BSP_MESHES else ():
        ranks_suffix = f"sync=window ranks={ranks}"
        yield f"bsp_sync {ranks_suffix}"
        for word_count in RELATION_WORDS:
            yield f"h_relation h={word_count} packet=4 method=put {ranks_suffix}"
        for packet in PACKETS:
            yield f"h_relation h={4 * (ranks - 1) * packet // 4} packet={packet} method=put {ranks_suffix}"
    if mesh == SMALLEST_MESH:
        for word_count in SINGLE_WORDS:
            yield f"h_relation h={word_count} packet=4 method=mpi {suffix}"


def part(mesh: str, cases: tuple[Case, ...], catalog: Catalog) -> Part:
    names = {case.workload for case in cases}
    return Part(part_name(mesh), machine_name(mesh), cases, tuple(catalog.restricted_to(names).workloads))


def fitted_parameter(answer: Answer, symbol: str, processors: int, method: str = "put") -> float | None:
    """Returns the parameter as fitted to the simulated times; None if they are missing."""
    if symbol in ("g", "L"):
        fit = relation_fit(answer.fits, processors, method)
    else:
        fit = permutation_fit(answer.fits, processors)
    return None if fit is None else parameter_value(fit, symbol)


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    rows = []
    for symbol, (model, unit) in SYMBOLS.items():
        for mesh, row in paper_rows(symbol).items():
            answer, processors = answers[part_name(mesh)], MESHES[mesh]
            rows.append(
                ComparedNumber(
                    row.key, f"{symbol}, {processors} processors", row.si,
                    fitted_parameter(answer, symbol, processors), None, unit,
                    status_of(answer.platform, row.key), table=TABLES[model],
                )
            )  # fmt: skip
    return [*rows, *_word_rows(answers[part_name(SMALLEST_MESH)])]


def _word_rows(answer: Answer) -> Iterator[ComparedNumber]:
    """Yields rows for the parts of a word's time, and for the gain of combining words."""
    seconds_per_word = _seconds_per_word(answer)
    for key, label, parts in (
        ("message", "work of the library on a word", ("write", "read")),
        ("network", "share of the network in a word", ("exchange",)),
    ):
        row = PAPER_VALUES.row(f"paragon/bsp-library/{key}")
        yield ComparedNumber(
            row.key, label, row.si,
            sum(seconds_per_word[part] for part in parts) if seconds_per_word else None, None, "s",
            status_of(answer.platform, row.key), table=TABLES["bsp"],
        )  # fmt: skip
    gain = combining_gain(answer)
    for bound, label in (("low", "at least"), ("high", "at most")):
        row = PAPER_VALUES.row(f"paragon/bsp-library/combining/{bound}")
        yield ComparedNumber(
            row.key, f"g without combining / g with it, {label}", row.si, gain, None, "", "predicted",
            bound=True, table=TABLES["bsp"],
        )  # fmt: skip


def combining_gain(answer: Answer) -> float | None:
    """Returns g of words sent immediately over g of combined words; None if either is unknown."""
    combined_g, single_word_g = (
        fitted_parameter(answer, "g", MESHES[SMALLEST_MESH], method) for method in ("put", "mpi")
    )
    return single_word_g / combined_g if combined_g and single_word_g else None


def superstep_breakdown(answer: Answer, word_count: int) -> dict[str, float] | None:
    """Returns the seconds of a superstep with h words by its parts, on the smallest mesh, as in figure 4."""
    records = answer.records("h_relation", h=word_count, packet=4, method="put", ranks=MESHES[SMALLEST_MESH])
    if not records or any(part not in records[0].metrics for part in PARTS):
        return None
    return {part: records[0].metrics[part].values[0] for part in PARTS}


def _seconds_per_word(answer: Answer) -> dict[str, float] | None:
    """Returns the seconds that another word adds to each part, from the difference of the two largest
    relations. The buffer that the exchange allocates does not count as time of the network."""
    small_words, large_words = RELATION_WORDS[-2:]
    small_breakdown, large_breakdown = (
        superstep_breakdown(answer, small_words),
        superstep_breakdown(answer, large_words),
    )
    if small_breakdown is None or large_breakdown is None:
        return None
    seconds_per_word = {
        part: (large_breakdown[part] - small_breakdown[part]) / (large_words - small_words) for part in PARTS
    }
    seconds_per_word["exchange"] -= WORD_BYTES * answer.platform.libraries.buffer_s_per_byte
    return seconds_per_word


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    rows = {row.key: row for row in comparisons}
    low, high = COMBINING_GAIN_RANGE
    statement = Statement("combining", "text", f"combining makes g {low:g} to {high:g} times smaller")
    gain = combining_gain(answers[part_name(SMALLEST_MESH)])
    return [
        *(_parameter_check(symbol, rows) for symbol in SYMBOLS),
        statement.unknown() if gain is None else statement.check(low <= gain <= high, f"{gain:.1f} times"),
    ]


def _parameter_check(symbol: str, rows: Mapping[str, ComparedNumber]) -> Check:
    """Checks a parameter on the meshes to which it was not fitted."""
    model, _ = SYMBOLS[symbol]
    mesh_rows = [(MESHES[mesh], rows[row.key]) for mesh, row in paper_rows(symbol).items()]
    outer_rows = mesh_rows[0], mesh_rows[-1]
    bound_texts = (f"{pages.format_number(row.published, row.unit)} on {p}" for p, row in outer_rows)
    claim = (
        f"{symbol} of the meshes, {' to '.join(bound_texts)} processors, each within {CLOSE_ERRORS[-1]:.0%}"
    )
    statement = Statement(f"{model}-{symbol}", TABLES[model].partition(":")[0], claim)
    return statement.within([row for _, row in mesh_rows if row.status != "fitted"], CLOSE_ERRORS[-1])


def figures(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> tuple[Figure, ...]:
    """Returns the paper's figures 3 to 5, and each parameter over the number of processors."""
    return (
        _relation_figure(answers),
        _breakdown_figure(answers),
        _permutation_figure(answers),
        *_parameter_figures(comparisons),
    )


def _relation_figure(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for mesh in BSP_MESHES:
        p, answer = MESHES[mesh], answers[part_name(mesh)]
        seconds = [
            (word_count, answer.seconds("h_relation", h=word_count, packet=4, method="put", ranks=p))
            for word_count in RELATION_WORDS
        ]
        series += _simulated_and_printed(mesh, "L", "g", seconds)
    return Figure(
        "paragon-figure-3",
        "Figure 3: time of a full h-relation",
        Axis("h, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(series),
        "Lines: g h + L of table 1. Points: simulated.",
    )


def _simulated_and_printed(
    mesh: str, constant: str, slope: str, seconds: Sequence[tuple[int, float | None]]
) -> list[Series]:
    """Returns the simulated times over a size, and the line of the two printed parameters."""
    start_s, per_unit = (
        PAPER_VALUES.row(f"paragon/{SYMBOLS[symbol][0]}/{symbol}/{mesh}").si for symbol in (constant, slope)
    )
    group = f"{MESHES[mesh]} processors"
    line = [(size, start_s + per_unit * size) for size, _ in seconds]
    return [
        pages.make_series(f"{group}, published", line, "line", group),
        pages.make_series(f"{group}, simulated", seconds, group=group),
    ]


def _breakdown_figure(answers: Mapping[str, Answer]) -> Figure:
    """Draws the parts of an h-relation. As in the paper, the fixed part is the exchange without the time of
    words in the network, and includes the allocation of buffers."""
    answer = answers[part_name(SMALLEST_MESH)]
    word_costs = {
        name: PAPER_VALUES.row(f"paragon/bsp-library/{key}").si
        for name, key in (("variable", "message"), ("network", "network"))
    }
    fixed_s = PAPER_VALUES.row(f"paragon/bsp/L/{SMALLEST_MESH}").si
    breakdowns = {
        word_count: parts
        for word_count in RELATION_WORDS
        if (parts := superstep_breakdown(answer, word_count)) is not None
    }
    seconds_per_word = _seconds_per_word(answer) or {}
    network_s = {word_count: seconds_per_word.get("exchange", 0.0) * word_count for word_count in breakdowns}
    simulated = {
        "fixed": {
            word_count: parts["exchange"] - network_s[word_count] for word_count, parts in breakdowns.items()
        },
        "variable": {word_count: parts["write"] + parts["read"] for word_count, parts in breakdowns.items()},
        "network": network_s,
    }
    titles = {
        "fixed": "startups, allocation, barrier",
        "variable": "writing to and reading from queues",
        "network": "network",
    }
    series = []
    for name, title in titles.items():
        line = [
            (word_count, fixed_s if name == "fixed" else word_costs[name] * word_count)
            for word_count in RELATION_WORDS
        ]
        series += [
            pages.make_series(f"{title}, published", line, "line", title),
            pages.make_series(f"{title}, simulated", simulated[name].items(), group=title),
        ]
    return Figure(
        "paragon-figure-4",
        f"Figure 4: the parts of an h-relation on {MESHES[SMALLEST_MESH]} processors",
        Axis("h, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(series),
        "Lines: 3.1 ms, about 5.9 us and about 0.5 us for each word. Points: simulated.",
    )


def _permutation_figure(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for mesh in MESHES:
        answer = answers[part_name(mesh)]
        seconds = [
            (block_bytes, answer.seconds("block_permutation", bytes=block_bytes)) for block_bytes in BLOCKS
        ]
        series += _simulated_and_printed(mesh, "l", "sigma", seconds)
    return Figure(
        "paragon-figure-5",
        "Figure 5: time of a full block permutation",
        Axis("m, bytes of a block", "B"),
        Axis("time", "s"),
        tuple(series),
        "Lines: sigma m + l of table 2. Points: simulated.",
    )


def _parameter_figures(comparisons: Sequence[ComparedNumber]) -> Iterator[Figure]:
    rows_by_key = {row.key: row for row in comparisons}
    for symbol, (model, unit) in SYMBOLS.items():
        rows = [(MESHES[mesh], rows_by_key[row.key]) for mesh, row in paper_rows(symbol).items()]
        yield Figure(
            f"paragon-{model}-{symbol}",
            f"Table {1 if model == 'bsp' else 2}: {symbol}",
            Axis("processors", "processors", "linear"),
            Axis(symbol, unit, "linear", include=(0.0,)),
            (
                pages.make_series("published", [(p, row.published) for p, row in rows], group="published"),
                pages.make_series("simulated", [(p, row.simulated) for p, row in rows], group="simulated"),
            ),
        )
