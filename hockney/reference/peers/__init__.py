# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of other suites, and the cases that measure what they do.

One `<suite>.toml` for each suite: every benchmark by its name there, with the case, or the reason why there
is none, and what differs in the definition. docs/reference/peers.md is made from it.
"""

from hockney.reference.peers.table import Benchmark, BenchmarkGroup, BenchmarkSuite, find, named, suites

__all__ = ["Benchmark", "BenchmarkGroup", "BenchmarkSuite", "find", "named", "suites"]
