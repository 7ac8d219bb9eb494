# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bulk synchronous programs: parameters of BSPlib and the BPRAM, kernels in both models, predicted times."""
