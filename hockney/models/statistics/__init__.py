# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of repeated measurements: medians with intervals within a launch and over launches."""
