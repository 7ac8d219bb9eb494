# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ensemble simulated annealing on several ranks: the times of its rounds and messages, by set-up."""
