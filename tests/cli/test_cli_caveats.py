# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Warnings that a reader can take in: three at most, what most runs have last."""

from __future__ import annotations

import pytest

from hockney.cli.output.results import COMMON_CODES, MAX_WARNINGS, print_caveats
from hockney.draw.page import Caveat


def made(*codes: str) -> list[Caveat]:
    return [
        Caveat(code, f"{code} it is (a detail): more", f"{code} numbers", f"mend {code}") for code in codes
    ]


@pytest.mark.parametrize(
    ("codes", "whole"),
    [
        (["load"], ["load"]),
        (["virtual"], ["virtual"]),
        (["load", "virtual", "failures"], ["load", "virtual", "failures"]),
        (["load", "virtual", "precision"], ["load"]),
        (["virtual", "a", "b", "precision", "c", "d"], ["a", "b"]),
        (["a", "b", "c", "d"], ["a", "b"]),
        ([], []),
    ],
)
def test_at_most_three_are_printed_and_none_is_lost(capsys, codes, whole):
    print_caveats(made(*codes))
    text = " ".join(capsys.readouterr().out.split())
    assert text.count("warning: ") == len(whole) + (len(whole) < len(codes)) <= MAX_WARNINGS
    for code in codes:
        assert f"{code} it is" in text
        assert (f"mend {code}" in text.casefold()) == (code in whole)
    assert {"virtual", "precision"} <= {*COMMON_CODES}
