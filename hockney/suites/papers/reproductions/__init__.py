# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproductions of papers, simulated, and on emulated Ethernets."""
