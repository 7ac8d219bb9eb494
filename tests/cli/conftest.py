# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that stand in for those of batch systems."""

from __future__ import annotations

from scheduler_programs import scheduler, slurm, stand_in, tools  # noqa: F401 - fixtures
