# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of BSP and BPRAM on the Paragon's meshes, tables 1 and 2 of Juurlink (1998).

The paper's g is mostly the work of its library: 5.9 us for each word, against 0.5 us in the network. The
simulated machine has no cost of that work, so that the printed 5.9 us are added to its g. L and l have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hockney import reference
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.draw.figure import Axis, Figure
from hockney.models.bsp.measured import permutation_fit, relation_fit, value
from hockney.reproductions import pages
from hockney.reproductions.compared import Compared, status_of
from hockney.reproductions.parts import Answer, Part

PRINTED = reference.published("paragon")
MESHES = {"4x2": 8, "4x4": 16, "8x4": 32, "6x6": 36, "8x8": 64, "10x10": 100}
"""Processors of each mesh."""
BSP_MESHES = tuple(mesh for mesh in MESHES if mesh != "10x10")
"""Those of table 1."""
WORKLOADS = ("h_relation", "bsp_sync", "block_permutation")
FOR_EACH = (16, 128, 512)
"""Words for each other processor: so many reach all of them."""
AT_ONCE = (16, 64, 256)
"""Words that are sent by themselves, on the smallest mesh."""
PACKETS = (64, 1024)
BLOCKS = (1024, 16384, 65536)
MESSAGES = (64, 1024, 16384, 65536, 262144)
"""Bytes of blocks, and of messages between two processors."""
LIBRARY_S = PRINTED.row("paragon/bsp-library/message").si
SYMBOLS = {"g": ("bsp", "s"), "L": ("bsp", "s"), "sigma": ("bpram", "s/B"), "l": ("bpram", "s")}
"""Model and unit of the printed parameters."""
WITH_LIBRARY = "with the 5.9 us of the paper's library for each word"
TABLES = {"bsp": "BSP parameters", "bpram": "BPRAM parameters"}


def part_name(mesh: str) -> str:
    return f"bsp-{mesh}"


def machine_name(mesh: str) -> str:
    return "paragon" if mesh == "10x10" else f"paragon-{mesh}"


def lines(mesh: str) -> Iterator[str]:
    """The cases of both tables."""
    p = MESHES[mesh]
    rest = f"sync=window ranks={p}"
    for size in MESSAGES:
        yield f"pingpong bytes={size} ranks=2"
    for size in BLOCKS:
        yield f"block_permutation bytes={size} {rest}"
    for ranks in (2, p) if mesh in BSP_MESHES else ():
        of = f"sync=window ranks={ranks}"
        yield f"bsp_sync {of}"
        for times in FOR_EACH:
            yield f"h_relation h={times * (ranks - 1)} packet=4 method=put {of}"
        for packet in PACKETS:
            yield f"h_relation h={16 * (ranks - 1) * packet // 4} packet={packet} method=put {of}"
    if p == min(MESHES.values()):
        for h in AT_ONCE:
            yield f"h_relation h={h} packet=4 method=mpi {rest}"


def part(mesh: str, cases: tuple[Case, ...], catalog: Catalog) -> Part:
    names = {case.workload for case in cases}
    return Part(part_name(mesh), machine_name(mesh), cases, tuple(catalog.only(names).workloads))


def parameter(answer: Answer, symbol: str, processors: int, method: str = "put") -> float | None:
    """As fitted to the simulated times; None if they are missing."""
    if symbol in ("g", "L"):
        fit = relation_fit(answer.fits, processors, method)
    else:
        fit = permutation_fit(answer.fits, processors)
    return None if fit is None else value(fit, symbol)


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    rows = []
    for symbol, (model, unit) in SYMBOLS.items():
        for mesh, processors, printed in printed_values(symbol):
            answer = answers[part_name(mesh)]
            simulated = parameter(answer, symbol, processors)
            library = symbol == "g"
            if simulated is not None and library:
                simulated += LIBRARY_S
            key = f"paragon/{model}/{symbol}/{mesh}"
            rows.append(
                Compared(
                    key, f"{symbol}, {processors} processors", printed, simulated, None, unit,
                    status_of(answer.platform, key), note=WITH_LIBRARY if library else "",
                    table=TABLES[model],
                )
            )  # fmt: skip
    return [*rows, *_words(answers[part_name("4x2")])]


def _words(answer: Answer) -> Iterator[Compared]:
    """A word's share of the network, and what combining gains."""
    processors = MESHES["4x2"]
    combined, naive = (parameter(answer, "g", processors, method) for method in ("put", "mpi"))
    network = PRINTED.row("paragon/bsp-library/network")
    yield Compared(
        network.key, "share of the network in a word", network.si, combined, None, "s", "predicted",
        table=TABLES["bsp"],
    )  # fmt: skip
    gain = None if combined is None or naive is None else naive / (combined + LIBRARY_S)
    for end, what in (("low", "at least"), ("high", "at most")):
        row = PRINTED.row(f"paragon/bsp-library/combining/{end}")
        yield Compared(
            row.key, f"g without combining / g with it, {what}", row.si, gain, None, "", "predicted",
            note=WITH_LIBRARY, table=TABLES["bsp"],
        )  # fmt: skip


def printed_values(symbol: str) -> Iterator[tuple[str, int, float]]:
    """Mesh, processors and printed value (s, or s/B)."""
    values = {row.key: row.si for row in PRINTED.rows}
    for mesh, processors in MESHES.items():
        key = f"paragon/{SYMBOLS[symbol][0]}/{symbol}/{mesh}"
        if key in values:
            yield mesh, processors, values[key]


def figures(compared: Sequence[Compared]) -> tuple[Figure, ...]:
    """Each parameter over the number of processors, printed and simulated."""
    by_key = {row.key: row for row in compared}
    drawn = []
    for symbol, (model, unit) in SYMBOLS.items():
        rows = [(p, by_key[f"paragon/{model}/{symbol}/{mesh}"]) for mesh, p, _ in printed_values(symbol)]
        drawn.append(
            Figure(
                f"paragon-{model}-{symbol}",
                f"{symbol}: {TABLES[model]}",
                Axis("processors", "processors", "linear"),
                Axis(symbol, unit, "linear", include=(0.0,)),
                (
                    pages.series("published", [(p, row.published) for p, row in rows], group="published"),
                    pages.series("simulated", [(p, row.simulated) for p, row in rows], group="simulated"),
                ),
            )
        )
    return tuple(drawn)
