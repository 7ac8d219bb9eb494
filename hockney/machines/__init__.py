# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines that a file describes: simulated ones, and emulated Ethernets."""
