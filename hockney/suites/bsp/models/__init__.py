# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of bulk synchronous programs: supersteps of programs (`programs`), a machine's parameters
(`parameters`), and the times that each model predicts (`costs`)."""
