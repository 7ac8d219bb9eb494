# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of bulk synchronous programs: what a program does in its supersteps (`superstep`, `programs`), what a
machine's parameters are (`parameters`), and what each model makes of them (`costs`, `assumptions`)."""
