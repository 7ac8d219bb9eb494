# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney: what message passing costs on a machine, and what a parallel algorithm will make of it."""

__version__ = "0.1.0"
