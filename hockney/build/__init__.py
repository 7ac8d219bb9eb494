# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine, compiled on first use against the MPI it will run with; on request the library for other
programs, and SimGrid."""

from hockney.build.compile import BuildFailed
from hockney.build.emulated import EthernetPrograms, ethernet_programs
from hockney.build.engine import Engine, engine, targets
from hockney.build.identity import MAIN, groups, identity_of, main_workloads, source_folder
from hockney.build.library import install_library, preloaded_library
from hockney.build.simgrid import simgrid, simgrid_prefix
