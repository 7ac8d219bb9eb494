# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks in reproductions of papers."""
