# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of programs: what a preloaded library records in each rank, and an explanation of the time in
MPI."""
