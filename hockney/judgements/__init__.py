# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Judgements of times, with their sentences, tables, figures and pages: which of two sides is slower, and
what differs between their environments; whether a run is as usual, and how times of an archive changed.

Data in, data out: `hockney.api.judgements` reads the runs, and the command line prints the results."""
