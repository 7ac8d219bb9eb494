# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine, compiled on first use against the MPI it will run with."""

from hockney.build.engine import Engine, engine
from hockney.build.identity import source_folder
from hockney.build.log import BuildFailed

__all__ = ["BuildFailed", "Engine", "engine", "source_folder"]
