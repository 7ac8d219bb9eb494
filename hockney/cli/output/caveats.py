# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats, printed as warnings."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.cli import messages
from hockney.cli.output.tables import print_labelled
from hockney.draw.page import Caveat


def print_caveats(caveats: Iterable[Caveat]) -> None:
    for caveat in caveats:
        print_labelled("warning", messages.warning(caveat.text, caveat.touches, caveat.todo))
