# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs whose records were edited, accidentally or maliciously."""

from pathlib import Path

import pytest
from resealed import reseal


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"started_s":', '"started_s":1e300,"was":', 0),
        ("buffers=hot bytes=8 ", "buffers=hot bytes=x ", 3),
        ("pingpong buffers=hot bytes=8 ", "prtt bytes=8 delay=0 messages=y ", 3),
    ],
)
def test_records_that_the_engine_cannot_have_written(hockney, mine, old, new, code):
    path = Path(mine, "records.jsonl")
    path.write_text(path.read_text().replace(old, new))
    reseal(path.parent)
    said = hockney("report", mine)
    assert said.code == code and "bug" not in said.err and "bug" not in hockney("models", mine).err
