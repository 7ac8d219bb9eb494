# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# A folder that contains a file of this name is a shelf of workloads with a separate executable,
# hockney-FOLDER, which is built when one of its workloads is first used. These are the compile options of its
# files.
set(options -O3)
