# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of this machine for the doctor: observed for some seconds and reported as findings."""
