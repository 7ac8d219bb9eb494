# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's executables: one that every run needs, and groups that are built on first use.

A folder of the engine with a file group.cmake is a group; each .cpp in it is a workload of the same name.
"""

from __future__ import annotations

from pathlib import Path

MAIN = "hockney-engine"


def groups(source: Path) -> dict[str, tuple[str, ...]]:
    """The workloads of each executable other than the main one, by the names of their files."""
    named = {folder: tuple(sorted(p.stem for p in folder.glob("*.cpp"))) for folder in group_folders(source)}
    return {f"hockney-{folder.name}": names for folder, names in named.items() if names}


def group_folders(source: Path) -> list[Path]:
    return sorted(path.parent for path in source.glob("*/group.cmake"))
