# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The minimum of a budget."""

from hockney.api.least_budget.check import budget_warning, least_budget_s

__all__ = ["budget_warning", "least_budget_s"]
