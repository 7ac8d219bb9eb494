# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduction of the paper on BSP and BPRAM."""
