# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks: work and messages of each rank as data, predicted times, the study."""
