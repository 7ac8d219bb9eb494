# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of the NAS Parallel Benchmarks."""
