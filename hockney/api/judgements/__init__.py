# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judging runs: two sides, which may be measured in alternating launches; a run and its baseline; an archive
of runs, and its newest run; performance guidelines. Results are for programs and notebooks."""
