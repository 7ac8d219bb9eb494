# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing two sides: finding and reading their runs, and the result for programs."""
