# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Text in CSV files, which people open with spreadsheets."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def not_a_formula(text: str) -> str:
    """`text`, with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
