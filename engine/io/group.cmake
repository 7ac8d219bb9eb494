# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Files that ranks write and read at the same time, with MPI-IO.
