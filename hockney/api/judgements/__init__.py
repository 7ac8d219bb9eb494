# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sides, checks against a baseline, archives of runs with their history, and performance
guidelines. Results are for programs and notebooks."""
