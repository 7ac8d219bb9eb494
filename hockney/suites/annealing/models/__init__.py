# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble simulated annealing on several ranks: what its rounds and messages take, by set-up."""
