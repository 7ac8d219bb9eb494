# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every other MPI. MPI's standard (section 11.5 of version 4.1) has mpiexec -n, but no option for binding or
for several hosts."""

from __future__ import annotations

from hockney.mpi import UNKNOWN, MpiFamily


class UnknownMpi(MpiFamily):
    name = UNKNOWN
    title = "unknown MPI"
    known = False
    srun_interfaces = ("pmix", "pmi2", "cray_shasta", "")


FAMILY = UnknownMpi()
