# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules as the table of docs/studies/guidelines.md.

python -m hockney.studies.guidelines.reference
"""

from __future__ import annotations

from hockney.models.guidelines import RULES, SOURCES, Guideline

TABLE_HEAD = "| guideline, source | the right side |\n|---|---|\n"


def rules_table() -> str:
    """The table, with one row for all rules with the same right side."""
    lefts_by_right: dict[str, list[str]] = {}
    for rule in RULES:
        left, right = _row(rule)
        lefts_by_right.setdefault(right, []).append(left)
    return TABLE_HEAD + "".join(
        f"| {', '.join(left_sides)} | {right} |\n" for right, left_sides in lefts_by_right.items()
    )


def sources_list() -> str:
    return "".join(f"{number}. {source}\n" for number, source in SOURCES.items())


def _row(rule: Guideline) -> tuple[str, str]:
    sources_text = f"[{','.join(map(str, rule.sources))}]"
    explanation = f"{rule.how} (copies {rule.copies})" if rule.copies else rule.how
    if rule.kind == "emulation":
        return f"`{rule.left}` <= `{rule.right}` {sources_text}", explanation
    return f"{rule.kind}: {rule.left} <= {rule.right} {sources_text}", explanation


if __name__ == "__main__":
    print(rules_table())
    print(sources_list(), end="")
