# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of programs: what a preloaded library records of each rank, and the explanation of its times."""
