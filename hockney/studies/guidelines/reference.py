# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rules as the table of docs/studies/guidelines.md.

python -m hockney.studies.guidelines.reference
"""

from __future__ import annotations

from hockney.core.wording import join_words
from hockney.models.guidelines import RULES, SOURCES, Guideline

HEAD = "| guideline | the right side | copies | source |\n|---|---|---|---|\n"


def table() -> str:
    return HEAD + "".join(f"| {' | '.join(_row(rule))} |\n" for rule in RULES)


def sources() -> str:
    return "".join(f"{number}. {source}\n" for number, source in SOURCES.items())


def _row(rule: Guideline) -> tuple[str, str, str, str]:
    where = join_words(f"[{number}]" for number in rule.sources)
    if rule.kind == "emulation":
        return f"`{rule.left}` <= `{rule.right}`", rule.how, rule.copies, where
    return f"{rule.kind}: {rule.left} <= {rule.right}", rule.how, rule.copies, where


if __name__ == "__main__":
    print(table())
    print(sources(), end="")
