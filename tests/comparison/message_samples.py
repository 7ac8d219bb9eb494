# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about comparisons."""

from __future__ import annotations

from hockney.models.statistics import MachineModes

EXCHANGED = MachineModes(pairs=40, slow=(17, 21), factor=1.57, split=(11, 7), partners={"3": "5", "5": "3"})
AS_THEY_RAN = MachineModes(pairs=40, slow=(2, 21), factor=1.57, split=(20, 1), partners={})

SAMPLES: dict[str, list[object]] = {"machine_modes.modes": [[EXCHANGED], [AS_THEY_RAN]]}
