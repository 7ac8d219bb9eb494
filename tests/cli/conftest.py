# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that stand in for those of batch systems."""

from __future__ import annotations

from fake_profile import fake_mpi, profiles_by_ranks, traced  # noqa: F401 - fixtures
from scheduler_programs import scheduler, slurm, stand_in, tools  # noqa: F401 - fixtures
