# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# The NAS Parallel Benchmarks (Bailey et al. 1994), written from their mathematics. frame/ is what all of them
# have in common, flow/ what LU, BT and SP have, adi/ what BT and SP have; the other folders belong to one each.
# The first option lets sums be vectorised where a loop asks for it, the others square roots and selections.
set(options -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math)
file(GLOB npb_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/npb/*/*.cpp)
add_library(hockney-npb-frame STATIC EXCLUDE_FROM_ALL ${npb_sources})
target_link_libraries(hockney-npb-frame PUBLIC hockney-house)
target_compile_options(hockney-npb-frame PRIVATE ${options})
set(libraries hockney-npb-frame)
