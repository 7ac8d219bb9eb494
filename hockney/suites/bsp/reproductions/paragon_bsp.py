# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of BSP and BPRAM on the Paragon's meshes, tables 1 and 2 of Juurlink (1998), and the times
to which they are fitted, figures 3 to 5.

The paper's g is mostly the work of its library for each word, and its l mostly that of its BPRAM. Both are
parts of the description, fitted to the numbers of the 4x2 mesh; the other meshes are predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hockney import reference
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure, Series
from hockney.reproductions import pages
from hockney.reproductions.compared import CLOSE, Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.bsp.models.parameters import permutation_fit, relation_fit, value
from hockney.suites.bsp.models.programs import WORD
from hockney.suites.bsp.studies.bsp_parameters.results import MESHES, printed

PRINTED = reference.published("paragon")
BSP_MESHES = tuple(mesh for mesh in MESHES if mesh != "10x10")
"""Meshes of table 1."""
WORKLOADS = ("h_relation", "bsp_sync", "block_permutation")
RELATION_WORDS = (1024, 4096, 16384)
"""Words of relations large enough for random destinations to reach all other processors."""
SMALLEST = "4x2"
"""The mesh to which the costs of the libraries are fitted."""
SINGLE_WORDS = (16, 64, 256)
"""Words that are sent by themselves, on the smallest mesh."""
PACKETS = (64, 256)
BLOCKS = (1024, 16384, 65536)
MESSAGES = (64, 1024, 16384, 65536, 262144)
"""Bytes of blocks, and of messages between two processors."""
COMBINING = tuple(PRINTED.row(f"paragon/bsp-library/combining/{end}").si for end in ("low", "high"))
"""The printed factors by which g is larger if each packet is sent at once."""
SYMBOLS = {"g": ("bsp", "s"), "L": ("bsp", "s"), "sigma": ("bpram", "s/B"), "l": ("bpram", "s")}
"""Model and unit of the printed parameters."""
TABLES = {"bsp": "table 1: BSP parameters", "bpram": "table 2: BPRAM parameters"}
PARTS = ("write", "exchange", "read")
"""Metrics of an h-relation."""


def part_name(mesh: str) -> str:
    return f"bsp-{mesh}"


def machine_name(mesh: str) -> str:
    return "paragon" if mesh == "10x10" else f"paragon-{mesh}"


def lines(mesh: str) -> Iterator[str]:
    """The cases of both tables."""
    p = MESHES[mesh]
    suffix = f"sync=window ranks={p}"
    for size in MESSAGES:
        yield f"pingpong bytes={size} ranks=2"
    for size in BLOCKS:
        yield f"block_permutation bytes={size} {suffix}"
    for ranks in (2, p) if mesh in BSP_MESHES else ():
        suffix_of_ranks = f"sync=window ranks={ranks}"
        yield f"bsp_sync {suffix_of_ranks}"
        for h in RELATION_WORDS:
            yield f"h_relation h={h} packet=4 method=put {suffix_of_ranks}"
        for packet in PACKETS:
            yield f"h_relation h={4 * (ranks - 1) * packet // 4} packet={packet} method=put {suffix_of_ranks}"
    if mesh == SMALLEST:
        for h in SINGLE_WORDS:
            yield f"h_relation h={h} packet=4 method=mpi {suffix}"


def part(mesh: str, cases: tuple[Case, ...], catalog: Catalog) -> Part:
    names = {case.workload for case in cases}
    return Part(part_name(mesh), machine_name(mesh), cases, tuple(catalog.only(names).workloads))


def parameter(answer: Answer, symbol: str, processors: int, method: str = "put") -> float | None:
    """The parameter as fitted to the simulated times; None if they are missing."""
    if symbol in ("g", "L"):
        fit = relation_fit(answer.fits, processors, method)
    else:
        fit = permutation_fit(answer.fits, processors)
    return None if fit is None else value(fit, symbol)


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    rows = []
    for symbol, (model, unit) in SYMBOLS.items():
        for mesh, row in printed(symbol).items():
            answer, processors = answers[part_name(mesh)], MESHES[mesh]
            rows.append(
                ComparedNumber(
                    row.key, f"{symbol}, {processors} processors", row.si,
                    parameter(answer, symbol, processors), None, unit,
                    status_of(answer.platform, row.key), table=TABLES[model],
                )
            )  # fmt: skip
    return [*rows, *_word_rows(answers[part_name(SMALLEST)])]


def _word_rows(answer: Answer) -> Iterator[ComparedNumber]:
    """The parts of a word's time, and what combining gains."""
    seconds_per_word = _seconds_per_word(answer)
    for key, label, parts in (
        ("message", "work of the library on a word", ("write", "read")),
        ("network", "share of the network in a word", ("exchange",)),
    ):
        row = PRINTED.row(f"paragon/bsp-library/{key}")
        yield ComparedNumber(
            row.key, label, row.si,
            sum(seconds_per_word[part] for part in parts) if seconds_per_word else None, None, "s",
            status_of(answer.platform, row.key), table=TABLES["bsp"],
        )  # fmt: skip
    gain = combining_gain(answer)
    for end, label in (("low", "at least"), ("high", "at most")):
        row = PRINTED.row(f"paragon/bsp-library/combining/{end}")
        yield ComparedNumber(
            row.key, f"g without combining / g with it, {label}", row.si, gain, None, "", "predicted",
            bound=True, table=TABLES["bsp"],
        )  # fmt: skip


def combining_gain(answer: Answer) -> float | None:
    """g of words sent at once, over g of combined words; None if either is unknown."""
    combined, naive = (parameter(answer, "g", MESHES[SMALLEST], method) for method in ("put", "mpi"))
    return naive / combined if combined and naive else None


def breakdown(answer: Answer, h: int) -> dict[str, float] | None:
    """Seconds of a superstep with h words by its parts, on the smallest mesh: figure 4."""
    records = answer.records("h_relation", h=h, packet=4, method="put", ranks=MESHES[SMALLEST])
    if not records or any(part not in records[0].metrics for part in PARTS):
        return None
    return {part: records[0].metrics[part].values[0] for part in PARTS}


def _seconds_per_word(answer: Answer) -> dict[str, float] | None:
    """Seconds that one more word adds to each part, from the difference of the two largest relations. The
    buffer that the exchange allocates for it is not the network's."""
    small_words, large_words = RELATION_WORDS[-2:]
    small, large = breakdown(answer, small_words), breakdown(answer, large_words)
    if small is None or large is None:
        return None
    seconds_per_word = {part: (large[part] - small[part]) / (large_words - small_words) for part in PARTS}
    seconds_per_word["exchange"] -= WORD * answer.platform.libraries.buffer_s_per_byte
    return seconds_per_word


def checks(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> list[Check]:
    rows = {row.key: row for row in compared}
    low, high = COMBINING
    statement = Statement("combining", "text", f"combining makes g {low:g} to {high:g} times smaller")
    gain = combining_gain(answers[part_name(SMALLEST)])
    return [
        *(_parameter_check(symbol, rows) for symbol in SYMBOLS),
        statement.unknown() if gain is None else statement.check(low <= gain <= high, f"{gain:.1f} times"),
    ]


def _parameter_check(symbol: str, rows: Mapping[str, ComparedNumber]) -> Check:
    """The check of a parameter on the meshes to which it was not fitted."""
    model, _ = SYMBOLS[symbol]
    compared = [(MESHES[mesh], rows[row.key]) for mesh, row in printed(symbol).items()]
    first_and_last = compared[0], compared[-1]
    ends = (f"{pages.format_number(row.published, row.unit)} on {p}" for p, row in first_and_last)
    claim = f"{symbol} of the meshes, {' to '.join(ends)} processors, each within {CLOSE[-1]:.0%}"
    statement = Statement(f"{model}-{symbol}", TABLES[model].partition(":")[0], claim)
    return statement.within([row for _, row in compared if row.status != "fitted"], CLOSE[-1])


def figures(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> tuple[Figure, ...]:
    """The paper's figures 3 to 5, and each parameter over the number of processors."""
    return _relations(answers), _parts(answers), _permutations(answers), *_parameters(compared)


def _relations(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for mesh in BSP_MESHES:
        p, answer = MESHES[mesh], answers[part_name(mesh)]
        seconds = [
            (h, answer.seconds("h_relation", h=h, packet=4, method="put", ranks=p)) for h in RELATION_WORDS
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
    """Simulated times over a size, and the line of the two printed parameters."""
    start, each = (
        PRINTED.row(f"paragon/{SYMBOLS[symbol][0]}/{symbol}/{mesh}").si for symbol in (constant, slope)
    )
    group = f"{MESHES[mesh]} processors"
    line = [(size, start + each * size) for size, _ in seconds]
    return [
        pages.make_series(f"{group}, published", line, "line", group),
        pages.make_series(f"{group}, simulated", seconds, group=group),
    ]


def _parts(answers: Mapping[str, Answer]) -> Figure:
    """The fixed part is the exchange without the words in the network: with the allocated buffers, as in the
    paper."""
    answer = answers[part_name(SMALLEST)]
    printed = {
        name: PRINTED.row(f"paragon/bsp-library/{key}").si
        for name, key in (("variable", "message"), ("network", "network"))
    }
    fixed_s = PRINTED.row(f"paragon/bsp/L/{SMALLEST}").si
    breakdowns = {h: parts for h in RELATION_WORDS if (parts := breakdown(answer, h)) is not None}
    seconds_per_word = _seconds_per_word(answer) or {}
    network = {h: seconds_per_word.get("exchange", 0.0) * h for h in breakdowns}
    simulated = {
        "fixed": {h: parts["exchange"] - network[h] for h, parts in breakdowns.items()},
        "variable": {h: parts["write"] + parts["read"] for h, parts in breakdowns.items()},
        "network": network,
    }
    titles = {
        "fixed": "startups, allocation, barrier",
        "variable": "writing to and reading from queues",
        "network": "network",
    }
    series = []
    for name, title in titles.items():
        line = [(h, fixed_s if name == "fixed" else printed[name] * h) for h in RELATION_WORDS]
        series += [
            pages.make_series(f"{title}, published", line, "line", title),
            pages.make_series(f"{title}, simulated", simulated[name].items(), group=title),
        ]
    return Figure(
        "paragon-figure-4",
        f"Figure 4: the parts of an h-relation on {MESHES[SMALLEST]} processors",
        Axis("h, words of 4 bytes", "words"),
        Axis("time", "s"),
        tuple(series),
        "Lines: 3.1 ms, about 5.9 us and about 0.5 us for each word. Points: simulated.",
    )


def _permutations(answers: Mapping[str, Answer]) -> Figure:
    series = []
    for mesh in MESHES:
        answer = answers[part_name(mesh)]
        seconds = [(m, answer.seconds("block_permutation", bytes=m)) for m in BLOCKS]
        series += _simulated_and_printed(mesh, "l", "sigma", seconds)
    return Figure(
        "paragon-figure-5",
        "Figure 5: time of a full block permutation",
        Axis("m, bytes of a block", "B"),
        Axis("time", "s"),
        tuple(series),
        "Lines: sigma m + l of table 2. Points: simulated.",
    )


def _parameters(compared: Sequence[ComparedNumber]) -> Iterator[Figure]:
    by_key = {row.key: row for row in compared}
    for symbol, (model, unit) in SYMBOLS.items():
        rows = [(MESHES[mesh], by_key[row.key]) for mesh, row in printed(symbol).items()]
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
