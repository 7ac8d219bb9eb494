# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Traced programs on more ranks than they ran on: the structure of their communication, fitted over rank
counts, and their computation between calls."""
