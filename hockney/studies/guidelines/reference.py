# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules as the table of docs/studies/guidelines.md.

python -m hockney.studies.guidelines.reference
"""

from __future__ import annotations

from hockney.models.guidelines import RULES, SOURCES, Guideline

HEAD = "| guideline, source | the right side |\n|---|---|\n"


def table() -> str:
    """One row for all rules with the same right side."""
    alike: dict[str, list[str]] = {}
    for rule in RULES:
        left, right = _row(rule)
        alike.setdefault(right, []).append(left)
    return HEAD + "".join(f"| {', '.join(lefts)} | {right} |\n" for right, lefts in alike.items())


def sources() -> str:
    return "".join(f"{number}. {source}\n" for number, source in SOURCES.items())


def _row(rule: Guideline) -> tuple[str, str]:
    where = f"[{','.join(map(str, rule.sources))}]"
    how = f"{rule.how} (copies {rule.copies})" if rule.copies else rule.how
    if rule.kind == "emulation":
        return f"`{rule.left}` <= `{rule.right}` {where}", how
    return f"{rule.kind}: {rule.left} <= {rule.right} {where}", how


if __name__ == "__main__":
    print(table())
    print(sources(), end="")
