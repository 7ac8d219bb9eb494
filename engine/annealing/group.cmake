# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Ensemble simulated annealing (Fachat and Hoffmann 1998): the library of ensemble/ as a workload. No fused
# multiply-add, which compilers use differently.
set(options -O3 -ffp-contract=off)
set(libraries hockney-ensemble)
