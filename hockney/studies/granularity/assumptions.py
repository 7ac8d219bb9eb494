# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a prediction assumes, how far each assumption held, and by which measurements one knows."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hockney.draw.page import Table
from hockney.pages.format import plural, quantity
from hockney.studies.granularity.text import change, length
from hockney.studies.granularity.validation import CORES, MUCH, STEPS, Checked

ASSUMED = {
    "exchange": "an exchange takes as long as the model of one message says",
    "preset": "the work takes the time that was preset",
    "together": "a rank computes as fast when all ranks compute",
    "sum": "computing and exchange do not touch each other",
    CORES: "every rank has a core to itself",
}
BY = {
    "exchange": "round_robin, the exchange alone",
    "preset": "compute on one rank",
    "together": "compute on all ranks at once",
    "sum": "what is left: granularity itself",
    CORES: "ranks, cores, and what other programs used",
}
LITTLE = 0.02


def table(checked: Sequence[Checked]) -> Table:
    """One row for each assumption and number of ranks."""
    rows: list[tuple[str, ...]] = []
    for p in sorted({each.cell.ranks for each in checked if each.cell.ranks > 1}):
        here = [each for each in checked if each.cell.ranks == p]
        for step in STEPS:
            if mine := [each for each in here if each.parts[step] is not None]:
                rows.append(_row(step, p, mine))
        rows.append(_cores(p, here))
    columns = ("ranks", "assumed", "known by", "median effect", "largest effect", "there", "verdict")
    return Table(
        "assumptions",
        "What the prediction assumes",
        columns,
        tuple(rows),
        numeric=(0, 3, 4),
        caption="The effect is what the efficiency changes by when the assumption is replaced by what was "
        "measured: of its size the median over the cells, and the largest with its sign. What a rank "
        "loses that is put off its core is in the effects of the two rows before. "
        f"Up to {LITTLE} an assumption holds, beyond {MUCH} it breaks.",
    )


def _row(step: str, ranks: int, mine: Sequence[Checked]) -> tuple[str, ...]:
    worst = max(mine, key=lambda c: abs(c.parts[step] or 0.0))
    effect = worst.parts[step] or 0.0
    verdict = "holds" if abs(effect) <= LITTLE else "breaks" if abs(effect) > MUCH else "nearly holds"
    typical = median(abs(c.parts[step] or 0.0) for c in mine)
    return str(ranks), ASSUMED[step], BY[step], f"{typical:.3f}", change(effect), said(worst, step), verdict


def _cores(ranks: int, here: Sequence[Checked]) -> tuple[str, ...]:
    crowded = [each for each in here if each.crowded]
    verdict = "breaks" if crowded else "holds"
    return str(ranks), ASSUMED[CORES], BY[CORES], "", "", load(here), verdict


def load(here: Sequence[Checked]) -> str:
    """What the ranks had, and what other programs used of it."""
    worst = max(here, key=lambda each: each.cell.outside)
    had = f"{plural(worst.cell.ranks, 'rank')} on {plural(worst.cores, 'core')}"
    return f"{had}, other programs typically used {worst.cell.outside:.2f}" if worst.cell.outside else had


def said(checked: Checked, step: str) -> str:
    """The measurements of one cell that speak about an assumption, in words."""
    cell, apart = checked.cell, checked.apart
    where = f"T = {quantity(cell.work_s, 's')}, {length(cell.bytes)}"
    if cell.serial:
        where += f", s = {cell.serial:g}"
    if not cell.even:
        where += f", {cell.shares}"
    if step == "exchange" and apart.exchange is not None:
        found = f"exchange {quantity(apart.exchange, 's')}, by the model {quantity(checked.model_s, 's')}"
        if checked.gap is not None:
            first, last = (quantity(end, "B") for end in checked.gap)
            found += f", which does not know where between {first} and {last} its line changes"
    elif step == "preset":
        found = f"the work took {quantity(cell.alone.value, 's')} alone"
    elif step == "together" and apart.share is not None:
        fair = cell.alone.value / cell.ranks
        found = f"a rank's part took {quantity(apart.share, 's')}, alone it would {quantity(fair, 's')}"
    else:
        total, parts = cell.measured.summary.median.value, _parts(checked)
        why = "ranks wait for one another" if total > parts else "a part of the exchange is hidden"
        found = f"{quantity(total, 's')} in a row, apart {quantity(parts, 's')}, so {why}"
    return f"{where}: {found}"


def _parts(checked: Checked) -> float:
    """The cell's time as the sum of what was measured apart."""
    cell, apart = checked.cell, checked.apart
    share = cell.alone.value / cell.ranks if apart.share is None else apart.share
    busy = cell.serial * cell.alone.value + (1 - cell.serial) * cell.imbalance * share
    return busy + (checked.model_s if apart.exchange is None else apart.exchange)
