# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise straight lines: the curve, the fit of its pieces, and the search for the change points."""
