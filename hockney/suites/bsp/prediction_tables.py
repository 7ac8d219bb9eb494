# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The presentation of a predicted kernel: a table, and a document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.format import quantity
from hockney.pages.grain_prediction.words import timed
from hockney.suites.bsp.models.costs import CostTerms

TERMS = ("work", "copies", "data", "messages")
MEANING = {
    "work": "local work of the busiest rank",
    "copies": "copies in its memory",
    "data": "bytes and packets",
    "messages": "startups and synchronisation",
}


def table(title: str, rows: Sequence[tuple[Case, Mapping[str, CostTerms], Mapping[str, Estimate]]]) -> Table:
    """A row for each case and model."""
    columns = ("ranks", "model", "time, model only", *TERMS)
    cells = tuple(
        (
            str(case.ranks),
            model,
            timed(times[model]),
            *(quantity(getattr(terms, name), "s") for name in TERMS),
        )
        for case, predicted, times in rows
        for model, terms in predicted.items()
    )
    caption = "; ".join(f"{name}: {words}" for name, words in MEANING.items())
    return Table("kernel-prediction", title, columns, cells, (0, 2, 3, 4, 5, 6), f"{caption}.")


def document(case: Case, predicted: Mapping[str, CostTerms], times: Mapping[str, Estimate]) -> dict[str, Any]:
    """Seconds by model and cause, and the ends of the interval of each time (null if unknown)."""
    return {
        "case": case.line,
        "ranks": case.ranks,
        "models": {
            model: {
                "time_s": terms.total,
                "time_low_s": times[model].low,
                "time_high_s": times[model].high,
                **{f"{name}_s": getattr(terms, name) for name in TERMS},
            }
            for model, terms in predicted.items()
        },
    }
