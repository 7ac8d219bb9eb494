# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about runs."""

from __future__ import annotations

from hockney.core.notice import Notice

SAMPLES = {
    Notice: [Notice("something was noticed", "something-noticed")],
    "least_s": [4.68],
    "message_costs_from.study": ["survey", "granularity"],
    "effect_of_table.effect": [0.05],
    "gains_undecided.without_interval": [0, 1, 2],
    "budget_far_too_small.budget_s": [0.005],
    "budget_far_too_small.cases": [1, 274],
}
