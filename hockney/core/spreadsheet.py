# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Text in CSV files that may be opened with spreadsheets."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def not_a_formula(text: str) -> str:
    """`text`, preceded by an apostrophe if a spreadsheet would interpret it as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
