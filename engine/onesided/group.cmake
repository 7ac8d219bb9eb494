# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# One-sided operations: hockney-onesided is built when one of them is first asked for.
