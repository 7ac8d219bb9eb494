# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SimGrid's SMPI, which runs the engine on simulated machines. discovery/simgrid.py finds it, launch/smpi.py
starts it."""

from __future__ import annotations

from hockney.mpi import MpiFamily


class Smpi(MpiFamily):
    name = "smpi"
    title = "SimGrid"
    simulated = True


FAMILY = Smpi()
