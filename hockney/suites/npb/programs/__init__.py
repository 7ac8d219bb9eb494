# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks as data: the work and the messages of every rank; and predicted times."""
