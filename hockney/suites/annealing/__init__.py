# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble simulated annealing: models of its set-ups, its study, and the reproduction of its paper."""
