# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""All other MPIs. The MPI standard (section 11.5 of version 4.1) defines mpiexec -n, but no options for
binding or for hosts."""

from __future__ import annotations

from hockney.mpi import UNKNOWN, MpiFamily


class UnknownMpi(MpiFamily):
    name = UNKNOWN
    title = "unknown MPI"
    known = False
    srun_interfaces = ("pmix", "pmi2", "cray_shasta", "")


FAMILY = UnknownMpi()
