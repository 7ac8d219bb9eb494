# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The sections that compare predicted and measured efficiencies, and explain differences: by the model's
assumptions, by uneven work, and by computing that missed its preset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.models.applications.contention import FEWEST_RANKS
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.cells import COUNT, RATIO, SECONDS, Format, number
from hockney.pages.columns import INTERVAL, Column, chosen, columns_table, without_intervals
from hockney.pages.evidence import Evidence
from hockney.pages.format import percent, quantity
from hockney.studies.granularity import figures
from hockney.studies.granularity.figures import WORK
from hockney.studies.granularity.text import bounds, change, length, points, share
from hockney.studies.granularity.validation import (
    CORES,
    FAILED,
    MUCH,
    STEPS,
    TYPICAL,
    WORST,
    Checked,
    ErrorSummary,
    assumption_table,
    error_summary,
    load,
    measurements,
)


def section(checked: tuple[Checked, ...], messages: PointToPointCosts, evidence: Evidence) -> Section:
    counts = sorted({each.cell.ranks for each in checked})
    return Section(
        "Predicted and measured",
        text=(
            _basis(checked, messages, evidence),
            *(sentence(checked, p) for p in counts),
            *misses(checked),
        ),
        figures=(_against(checked, counts), _errors(checked, counts)),
    )


def details_section(checked: tuple[Checked, ...], evidence: Evidence) -> Section:
    counts = sorted({each.cell.ranks for each in checked})
    preset = presets_table(evidence)
    return Section(
        "What the prediction assumes, cell by cell",
        tables=(
            assumption_table(checked),
            *([preset] if preset else []),
            *(_table(checked, p) for p in counts),
        ),
        closed=True,
    )


def _basis(checked: Sequence[Checked], messages: PointToPointCosts, evidence: Evidence) -> str:
    """The basis of the prediction, and which part of it this run has measured itself."""
    texts = [
        f"The prediction uses the message times of {messages.source}, the preset work, and equation 6. "
        "No number in it was fitted to the measured efficiencies."
    ]
    if evidence.surveyed is None:
        texts.append("The ping-pong was measured in this run, along with the grid.")
    several = [each.cell.ranks for each in checked if each.cell.ranks >= FEWEST_RANKS]
    if several and messages.sharing == "measured":
        texts.append(
            f"For {FEWEST_RANKS} and more ranks, measured exchanges, including this run's own, decided "
            "only whether messages share the network."
        )
    return " ".join(texts)


def sentence(checked: Sequence[Checked], ranks: int) -> str:
    here = [each for each in checked if each.cell.ranks == ranks]
    summary = error_summary(here)
    if summary is None:
        return ""
    limits = f", within the limits of {points(TYPICAL)} and {points(WORST)}"
    why = ""
    if not summary.holds and (broken := Counter(each.breaks for each in here if each.breaks)):
        most, _ = broken.most_common(1)[0]
        why = f" Main cause: {FAILED[most]}."
    if not summary.holds:
        limits = _exceeded(summary)
    return (
        f"On {plural(ranks, 'rank')} predicted efficiencies are off by {points(summary.typical)} points "
        f"typically and by {points(summary.worst)} at worst ({plural(summary.cells, 'cell')}){limits}.{why}"
    )


def _exceeded(summary: ErrorSummary) -> str:
    """The limits that the errors exceed."""
    if summary.typical <= TYPICAL:
        return f"; the worst is above the limit of {points(WORST)}"
    if summary.worst <= WORST:
        return f"; the typical error is above the limit of {points(TYPICAL)}"
    return f", above the limits of {points(TYPICAL)} and {points(WORST)}"


def misses(checked: Sequence[Checked]) -> list[str]:
    """A sentence for each assumption that fails: the number of cells where it does, and the worst of them
    with its measurements."""
    texts = []
    for step, words in FAILED.items():
        missed = [each for each in checked if each.breaks == step]
        if not missed:
            continue
        worst = max(missed, key=lambda each: abs(each.error))
        which = ", all of them with uneven work," if all(map(_lopsided, missed)) else ""
        known = load(missed) if step == CORES else measurements(worst, step)
        texts.append(
            f"In {plural(len(missed), 'cell')}{which} the prediction is off by more than {points(MUCH)} "
            f"points because {words}; in the worst, on {plural(worst.cell.ranks, 'rank')}, by "
            f"{change(worst.error)} points ({known})."
        )
    return texts


def _lopsided(each: Checked) -> bool:
    """Whether some ranks had more to compute than others."""
    return bool(each.cell.serial) or not each.cell.even


def _against(checked: Sequence[Checked], counts: Sequence[int]) -> Figure:
    ends = [v for each in checked for v in (each.predicted.value, each.cell.efficiency.value)]
    diagonal = (min(ends), max(ends))
    drawn = []
    for p in counts:
        selected = [each for each in checked if each.cell.ranks == p]
        name = plural(p, "rank")
        x = [each.predicted.value for each in selected]
        drawn.append(figures.efficiency_points(name, [each.cell for each in selected], name, x))
    return Figure(
        "validation",
        "Measured against predicted efficiency",
        Axis("predicted efficiency", "%", "linear"),
        Axis("measured efficiency", "%", "linear"),
        (*drawn, Series("as predicted", diagonal, diagonal, kind="line")),
        "One point per cell of the grid, with the 95% interval of the measurement.",
    )


def _errors(checked: Sequence[Checked], counts: Sequence[int]) -> Figure:
    drawn = []
    for p in counts:
        selected = [each for each in checked if each.cell.ranks == p]
        name = plural(p, "rank")
        drawn.append(
            Series(
                name,
                tuple(each.cell.work_s for each in selected),
                tuple(each.error for each in selected),
                group=name,
                detail=tuple(_where(each) for each in selected),
            )
        )
    works = [each.cell.work_s for each in checked]
    zero = Series("as predicted", (min(works), max(works)), (0.0, 0.0), kind="line")
    return Figure(
        "validation-error",
        "Error of the prediction against T",
        WORK,
        Axis("measured minus predicted efficiency", "%", "linear"),
        (*drawn, zero),
        "Above the line the ranks were more efficient than predicted.",
    )


def _where(each: Checked) -> str:
    cell = each.cell
    return f"{length(cell.bytes)}, s = {cell.serial:g}" + ("" if cell.even else f", {cell.shares}")


EFFICIENCY = Format(lambda value: share(number(value)), interval=bounds)
CHANGE = Format(change)


def _step(step: str) -> Column[Checked]:
    return Column(step, lambda each: each.parts[step], CHANGE)


CELLS: tuple[Column[Checked], ...] = (
    Column("ranks", lambda each: each.cell.ranks, COUNT),
    Column("T", lambda each: each.cell.work_s, SECONDS),
    Column("message", lambda each: length(each.cell.bytes)),
    Column("s", lambda each: each.cell.serial, Format(lambda serial: f"{100 * serial:g}%")),
    Column("shares", lambda each: "even" if each.cell.even else each.cell.shares),
    Column("imbalance", lambda each: each.cell.imbalance, Format(lambda imbalance: f"{imbalance:.3f}")),
    Column("speed-up", lambda each: each.cell.ranks * each.cell.efficiency.value, RATIO),
    Column("efficiency", lambda each: each.cell.efficiency, EFFICIENCY, interval=INTERVAL),
    Column("predicted", lambda each: each.predicted, EFFICIENCY, interval="from the fit's"),
    Column("error", lambda each: each.error, CHANGE),
    *map(_step, STEPS),
    Column("breaks", lambda each: each.breaks),
)


def _table(checked: Sequence[Checked], ranks: int) -> Table:
    columns = [column for column in CELLS if column.heading not in ("ranks", "imbalance")]
    caption = (
        "The error is measured minus predicted efficiency in percentage points, and the next four "
        "columns divide it among the assumptions in the table above. Where the error is above "
        f"{points(MUCH)}, the last column names the assumption that fails."
    )
    rows = (each for each in checked if each.cell.ranks == ranks)
    return columns_table(f"cells-{ranks}", f"Every cell on {plural(ranks, 'rank')}", columns, rows, caption)


def uneven_section(checked: Sequence[Checked]) -> Section | None:
    """The section on uneven work; None if all work was shared evenly."""
    uneven = [each for each in checked if not each.cell.even]
    if not uneven:
        return None
    even = {_key(each): each.cell.efficiency.value for each in checked if each.cell.even}
    columns = (
        *chosen(CELLS, "ranks", "shares", "imbalance", "T", "message", ("efficiency", "measured")),
        *without_intervals(chosen(CELLS, "predicted", "error")),
        Column("even", lambda each: even.get(_key(each)), EFFICIENCY),
    )
    return Section(
        "Uneven work",
        text=(
            "Imbalance is the parallel work of the busiest rank relative to the mean. All others wait "
            "for that rank, so the efficiency stays below 1 / imbalance, however coarse the "
            "granularity. If that rank's messages arrive before it receives them, part of the exchange "
            "is hidden, and the prediction is too low.",
        ),
        tables=(columns_table("uneven", "Efficiency of uneven work", columns, uneven),),
    )


def _key(each: Checked) -> tuple[int, int, float, float]:
    return each.cell.ranks, each.cell.bytes, each.cell.serial, each.cell.work_s


CLOCKS = {"thread": "of the thread", "wall": "wall", "simulated": "simulated"}
WALL = " The wall clock also counts other programs; it is used if threads have no CPU clock."


def presets_table(evidence: Evidence) -> Table | None:
    """A row for each number of ranks, preset and clock; None if nothing was computed without exchange."""
    found: dict[tuple[int, float, str], list[float]] = {}
    for record in evidence.run.records:
        case = record.parse_case()
        preset, error = record.metric("work"), record.metric("work_error")
        if case.workload == "compute" and preset is not None and error is not None:
            key = case.ranks, preset, record.labels.get("work_clock", "thread")
            found.setdefault(key, []).append(error)
    if not found:
        return None
    rows = tuple(
        (
            str(ranks),
            quantity(preset, "s"),
            percent(median(errors)),
            percent(max(errors)),
            CLOCKS[clock],
        )
        for (ranks, preset, clock), errors in sorted(found.items())
    )
    return Table(
        "presets",
        "Accuracy of the preset computing time",
        ("ranks", "preset", "median error", "largest error", "clock"),
        rows,
        numeric=(0, 1, 2, 3),
        caption="For each launch: the error of the rank that missed the preset time most, in the median "
        "repetition, on the clock that decides when the computation stops."
        + (WALL if any(clock == "wall" for _, _, clock in found) else ""),
    )
