# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""This machine: its MPIs, its hardware, its load."""

from hockney.machine.cpu import Processors, processors
from hockney.machine.describe import describe
from hockney.machine.disk_space import shared_memory, writable
from hockney.machine.find import find_mpi, is_mpi_name, on_machine
from hockney.machine.load import Load, Moment, load_between, moment
from hockney.machine.mpi_settings import mpi_settings
from hockney.machine.simgrid import find_simgrid, simgrids

__all__ = [
    "Load",
    "Moment",
    "Processors",
    "describe",
    "find_mpi",
    "find_simgrid",
    "is_mpi_name",
    "load_between",
    "moment",
    "mpi_settings",
    "on_machine",
    "processors",
    "shared_memory",
    "simgrids",
    "writable",
]
