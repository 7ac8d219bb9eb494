# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# What MPI-4 prepares once and starts again and again: persistent collectives and partitioned messages.
