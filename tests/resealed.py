# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run folders that were edited by somebody who recomputes the checksums."""

from __future__ import annotations

from pathlib import Path

from hockney.store.checksums import checksum_at_end, plan_sums, seal_line, sealed_plan


def reseal(run: Path) -> None:
    """Make the checksums of the folder `run` match its files as they are now."""
    plan = run / "plan.txt"
    lines = plan.read_text().splitlines(keepends=True)
    text = "".join(
        line for line in lines if not line.startswith(("# checksum = ", "# machine", "# catalog", "# survey"))
    )
    names = ("machine.json", "survey.json", "catalog.json")
    plan.write_text(
        sealed_plan(text, {name: (run / name).read_bytes() for name in names if (run / name).exists()})
    )
    before = plan_sums(plan.read_text()).checksum
    records = run / "records.jsonl"
    if not records.exists():
        return
    written = []
    for raw in records.read_bytes().splitlines():
        line = raw[: raw.rindex(b',"sum":"')] + b"}" if b',"sum":"' in raw else raw
        written.append(seal_line(line, before) + b"\n")
        before = checksum_at_end(written[-1])
    records.write_bytes(b"".join(written))
