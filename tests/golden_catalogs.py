# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The golden catalogs, contract/golden/catalog.json and groups/*.json: what each executable prints with
--catalog. `make catalogs` compiles the executables and writes all of them; git shows what changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hockney import build
from hockney.build.engine import run_without_launcher
from hockney.build.identity import MAIN
from hockney.discovery.find import find_mpi

FOLDER = Path(__file__).resolve().parents[1] / "contract" / "golden"
REMEDY = "'make catalogs' writes the golden catalogs again"


def golden_catalog(group: str) -> Path:
    """The golden file of an executable."""
    if group == MAIN:
        return FOLDER / "catalog.json"
    return FOLDER / "groups" / f"{group.removeprefix('hockney-')}.json"


def catalog_text(printed: str) -> str:
    """The text of the golden file, from what the executable prints: as it is, on several lines."""
    return json.dumps(json.loads(printed), indent=1, ensure_ascii=False) + "\n"


def write_catalogs() -> None:
    def notify(text: str) -> None:
        print(text, file=sys.stderr)

    mpi = find_mpi(notify=notify)
    written = []
    for group in (MAIN, *build.groups(build.source_folder())):
        engine = build.engine(mpi, notify=notify, group=group)
        path = golden_catalog(group)
        path.write_text(catalog_text(run_without_launcher(engine.path, mpi).out), "utf-8")
        written.append(path)
    for path in (FOLDER / "groups").glob("*.json"):
        if path not in written:
            path.unlink()  # of a group that no longer exists


if __name__ == "__main__":
    write_catalogs()
