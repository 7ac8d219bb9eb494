# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of a comparison as columns."""

from __future__ import annotations

from hockney.api.export.table import Cell, Rows
from hockney.comparison import ComparedSides


def rows(compared: ComparedSides) -> Rows:
    """A row for each case; each parameter of the cases is a column."""
    cases = compared.cases
    names = dict.fromkeys(name for each in cases for name in ("ranks", *dict(each.case.parameters)))
    columns: dict[str, list[Cell]] = {"case": [each.case.line for each in cases]}
    columns["workload"] = [each.case.workload for each in cases]
    columns |= {name: [each.case.get(name) for each in cases] for name in names}
    columns["level"] = [each.level for each in cases]
    for name, field, unit in (
        ("a", "a", "_s"),
        ("b", "b", "_s"),
        ("ratio", "ratio", ""),
        ("relative_ratio", "relative", ""),
    ):
        estimates = [getattr(each, field) for each in cases]
        for end in ("value", "low", "high"):
            column = f"{name}{unit}" if end == "value" else f"{name}_{end}{unit}"
            columns[column] = [None if of is None else getattr(of, end) for of in estimates]
    for place, side in enumerate("ab"):
        columns[f"{side}_launches"] = [each.launches[place] for each in cases]
    columns["p_changed"] = [each.p_changed for each in cases]
    columns["p_same"] = [each.p_same for each in cases]
    columns["verdict"] = [each.state for each in cases]
    for place, side in enumerate("ab"):
        more = [each.more_launches for each in cases]
        columns[f"{side}_more_launches"] = [None if each is None else each[place] for each in more]
    return Rows.of(columns)
