# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's executables: one that every run needs, and groups that are built on first use.

A folder of the engine with a file group.cmake is a group; each .cpp in it defines one or several workloads.
"""

from __future__ import annotations

import re
from pathlib import Path

MAIN = "hockney-engine"
DEFINITION = re.compile(r"^extern constinit const WorkloadInfo (\w+)", re.MULTILINE)
"""As engine/cmake/plugin_folder.cmake finds them."""


def groups(source: Path) -> dict[str, tuple[str, ...]]:
    """The workloads of each executable other than the main one, by name, as their files define them."""
    named = {folder: _workloads(folder) for folder in group_folders(source)}
    return {f"hockney-{folder.name}": names for folder, names in named.items() if names}


def _workloads(folder: Path) -> tuple[str, ...]:
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*.cpp"))
    return tuple(sorted(name for text in texts for name in DEFINITION.findall(text)))


def group_folders(source: Path) -> list[Path]:
    return sorted(path.parent for path in source.glob("*/group.cmake"))
