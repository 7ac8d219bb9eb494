# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# A folder with a file of this name is a shelf of workloads with an executable of its own, hockney-FOLDER, which is built
# when one of its workloads is first asked for. These are the compile options of its files.
set(options -O3)
