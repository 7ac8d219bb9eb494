# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduction of the paper on blocking and nonblocking communication in annealing."""
