# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compares a frozen prediction with launches of the program: unchanged ones and, if launches can make the
changes, changed ones interleaved with them.

A preloaded library (`engine/library/pmpi`) makes the program use other algorithms, and reports which ones it
used. If the program calls MPI in ways that the library does not intercept, nothing was checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hockney.core.errors import ExitCode, Inconclusive
from hockney.core.fit import Estimate
from hockney.core.wording import list_names, plural
from hockney.draw.page import Table
from hockney.models.statistics import ratio_of_pairs
from hockney.models.tuning.rules import HEADING
from hockney.pages.columns import (
    INTERVAL_HEADING,
    Column,
    Format,
    columns_document,
    columns_table,
    point_value,
)
from hockney.pages.format import format_signed_tenths, interval, quantity
from hockney.profiles.efficiencies import over_values
from hockney.profiles.profile import Launch
from hockney.replay.predictions import INAPPLICABLE_REASONS, Choice, Prediction, Score

CHOICES, REPORT = "hockney.choices", "collectives.txt"
"""Files of the changed launches: the table of algorithms, and the report of those that were used."""
VARIABLES = "HOCKNEY_CHOICES", "HOCKNEY_PMPI_REPORT"

Verdict = Literal["covered", "missed", "undecided", "unknown"]
"""Whether the prediction's interval contains the measured value. undecided: it does not, but it overlaps the
measured interval; unknown: the prediction has no interval."""
RUN_S, UNCHANGED_S, RATIO = "run time", "run time without the changes", "with / without the changes"


def choices_text(choices: Sequence[Choice]) -> str:
    """The table of algorithms that the library reads."""
    return "".join(f"{line}\n" for line in (HEADING, *(choice.line for choice in choices)))


def prediction_variables(prediction: Prediction, folder: Path) -> dict[str, str]:
    """The environment variables that apply the prediction's changes. Their files are in `folder`."""
    files = (str((folder / name).absolute()) for name in (CHOICES, REPORT))
    algorithm_variables = dict(zip(VARIABLES, files, strict=True)) if prediction.choices else {}
    return {**algorithm_variables, **prediction.variables}


_LINE = re.compile(r"operation=(\S+) algorithm=(\S+) calls=(\d+) ")


def refuse_unused(prediction: Prediction, folder: Path) -> None:
    """Raises Inconclusive if the program did not call a collective with its predicted algorithm."""
    path = folder / REPORT
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    used = {(operation, algorithm) for operation, algorithm, _ in _LINE.findall(text)}
    unused = {
        f"{choice.operation} by {choice.algorithm}": choice
        for choice in prediction.choices
        if choice.algorithm != "mpi" and (choice.operation, choice.algorithm) not in used
    }
    if unused:
        raise Inconclusive(
            f"the program did not use {list_names(list(unused))}",
            "its calls do not pass through C's MPI_ functions, as those of Fortran in some MPIs and of "
            "functions that end in _c, or the algorithm does not apply to their arguments"
            if text
            else "the library of algorithms left no report: it was not loaded, or the program did not end",
            "predict another algorithm, or link hockney's library (docs/library.md)",
            code="change-not-applied",
            unused=list(unused),
        )


@dataclass(frozen=True)
class CheckRow:
    """A quantity as predicted and as measured."""

    quantity: str
    unit: str
    predicted: Estimate
    measured: Estimate

    @property
    def error(self) -> float:
        """The error of the prediction, relative to the measured value."""
        return self.predicted.value / self.measured.value - 1 if self.measured.value else 0.0

    @property
    def verdict(self) -> Verdict:
        low, high = self.predicted.low, self.predicted.high
        if low is None or high is None:
            return "unknown"
        if low <= self.measured.value <= high:
            return "covered"
        if self.measured.low is None or self.measured.high is None:
            return "missed"
        return "undecided" if self.measured.low <= high and low <= self.measured.high else "missed"


def _value_text(row: CheckRow, value: Estimate) -> str:
    return quantity(value.value, row.unit) if row.unit else f"{value.value:.3f}"


def _interval_text(row: CheckRow, value: Estimate) -> str:
    if row.unit or value.low is None or value.high is None:
        return interval(value, row.unit) if value.low is not None else ""
    return f"{value.low:.3f} to {value.high:.3f}"


ROWS: tuple[Column[CheckRow], ...] = (
    Column("quantity", lambda row: row.quantity, key="quantity"),
    Column("", lambda row: row.unit, key="unit"),
    Column("predicted", lambda row: _value_text(row, row.predicted), Format(str)),
    Column(INTERVAL_HEADING, lambda row: _interval_text(row, row.predicted), Format(str)),
    Column("", lambda row: row.predicted, key="predicted"),
    Column("measured", lambda row: _value_text(row, row.measured), Format(str)),
    Column("its interval", lambda row: _interval_text(row, row.measured), Format(str)),
    Column("", lambda row: row.measured, key="measured"),
    Column(
        "error",
        lambda row: row.error,
        Format(lambda value: format_signed_tenths(point_value(value))),
        "error",
    ),
    Column("verdict", lambda row: row.verdict, key="verdict"),
)


@dataclass(frozen=True)
class Check:
    """A comparison of a prediction with run times (s) on a number of ranks. `unchanged` and `changed` are run
    times of launches in pairs. If launches cannot make the changes, `changed` is empty and the unchanged
    launches are compared."""

    prediction: Prediction
    sha256: str
    ranks: int
    unchanged: tuple[float, ...]
    changed: tuple[float, ...] = ()

    @property
    def applied(self) -> bool:
        """Whether launches made the changes."""
        return bool(self.changed)

    @property
    def launches(self) -> int:
        """The number of launches that count."""
        return len(self.unchanged) + len(self.changed)

    @cached_property
    def rows(self) -> tuple[CheckRow, ...]:
        """The compared quantities. The first one decides the verdict."""
        predicted = self.prediction.on(self.ranks).run_s
        unchanged_s, predicted_ratio = self.prediction.unchanged_s, self.prediction.ratio
        if not self.applied or unchanged_s is None or predicted_ratio is None:
            return (CheckRow(RUN_S, "s", predicted, over_values(self.unchanged)),)
        logs = np.log(np.array(self.changed) / np.array(self.unchanged))
        ratio = ratio_of_pairs(logs).ratio if len(logs) > 1 else Estimate(float(np.exp(logs[0])), None, None)
        return (
            CheckRow(RUN_S, "s", predicted, over_values(self.changed)),
            CheckRow(UNCHANGED_S, "s", unchanged_s, over_values(self.unchanged)),
            CheckRow(RATIO, "", predicted_ratio, ratio),
        )

    @property
    def verdict(self) -> Verdict:
        return self.rows[0].verdict

    @property
    def exit_code(self) -> ExitCode:
        codes = {"covered": ExitCode.SUCCESS, "missed": ExitCode.ANSWER_IS_NO}
        return codes.get(self.verdict, ExitCode.INCONCLUSIVE)

    @property
    def table(self) -> Table:
        return columns_table("check", "Prediction and measurement", ROWS, self.rows)

    @property
    def sentences(self) -> Iterator[str]:
        row = self.rows[0]
        endings = {
            "covered": "which the prediction's interval contains.",
            "missed": "outside of the prediction's interval.",
            "undecided": "outside of the prediction's interval, but not certainly so; a larger --repeat "
            "decides.",
            "unknown": "and the prediction has no interval.",
        }
        yield (
            f"Predicted for {plural(self.ranks, 'rank')} ({self.prediction.text}): "
            f"{quantity(row.predicted.value, 's')}. Measured: {quantity(row.measured.value, 's')} "
            f"({format_signed_tenths(row.error)} error), "
            f"{endings[row.verdict]}"
        )
        inapplicable = [
            change for change in self.prediction.inapplicable_changes if change.kind in INAPPLICABLE_REASONS
        ]
        if inapplicable:
            reasons = "; ".join(
                dict.fromkeys(
                    f"{change.text}: {INAPPLICABLE_REASONS[change.kind]}" for change in inapplicable
                )
            )
            yield f"The launches ran the command as it is, which has to have the changes itself ({reasons})."

    @property
    def document(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "prediction": self.sha256,
            "ranks": self.ranks,
            "changes": self.prediction.changes,
            "applied": self.applied,
            "verdict": self.verdict,
            "rows": columns_document(ROWS, self.rows),
            "unchanged_s": list(self.unchanged),
            "changed_s": list(self.changed),
        }

    def score(self, checked: str) -> Score:
        row = self.rows[0]
        ratio = self.prediction.ratio or Estimate(1.0, None, None)
        return Score(
            checked=checked,
            prediction=self.sha256,
            program=self.prediction.program,
            ranks=self.ranks,
            kinds=[change.kind for change in self.prediction.changes],
            predicted=row.predicted,
            measured=row.measured,
            error=row.error,
            covered=row.verdict == "covered",
            launches=self.launches,
            predicted_gain=1 - ratio.value if self.applied else None,
            measured_gain=1 - self.rows[2].measured.value if self.applied else None,
            decided=not (ratio.low or 0.0) <= 1 <= (ratio.high or math.inf),
        )


def make_check(
    prediction: Prediction,
    sha256: str,
    unchanged: Mapping[str, Launch],
    changed: Mapping[str, Launch] | None,
) -> Check:
    """Compare the prediction with launches, which are keyed by their turns. A launch counts if it and its
    counterpart ended well. Raises Inconclusive if no launch counts, UsageError if their number of ranks was
    not predicted."""
    successful = {name: launch for name, launch in unchanged.items() if _ended_well(launch)}
    changed_successful = (
        None if changed is None else {name: launch for name, launch in changed.items() if _ended_well(launch)}
    )
    names = [name for name in successful if changed_successful is None or name in changed_successful]
    if not names:
        raise Inconclusive(
            "no launch ended well",
            "the run times of others say nothing about the prediction",
            "check that the command works without hockney",
            code="check-without-launches",
        )
    ranks = len(successful[names[0]].ranks)
    prediction.on(ranks)
    return Check(
        prediction,
        sha256,
        ranks,
        tuple(successful[name].elapsed_s for name in names),
        () if changed_successful is None else tuple(changed_successful[name].elapsed_s for name in names),
    )


def _ended_well(launch: Launch) -> bool:
    return launch.entry.exit_code == 0 and all(rank.finished for rank in launch.ranks)
