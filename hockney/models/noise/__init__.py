# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of cores: detours, their spectrum, which cores have more of them, and what they cost programs."""
