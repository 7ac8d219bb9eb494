# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# What a simulated machine needs in addition to the engine: custom MPI calls (linked into every executable), and the
# platform plug-in, which smpirun loads to build the machine: smpirun -platform libhockney-platform.so ... hockney-engine
file(GLOB smpi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/smpi/*.cpp)
set(platform_sources ${smpi_sources})
list(FILTER platform_sources INCLUDE REGEX "/platform[^/]*\\.cpp$")
list(FILTER smpi_sources EXCLUDE REGEX "/platform[^/]*\\.cpp$")

# MPI calls of our own belong to the executable itself: every executable has them.
set(HOCKNEY_SMPI_CALLS ${smpi_sources})

# The plugin belongs to the simulator, not to the simulated program: it is compiled without the macros that turn sleep,
# getenv or clocks into simulated ones. smpicxx leaves them out when asked to pretend to be a plain compiler (it says so
# once a file), and still knows where its headers are. For linking it is asked as usual: it makes shared libraries only.
add_library(hockney-platform SHARED ${platform_sources})
target_include_directories(hockney-platform PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(hockney-platform PROPERTIES
  CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;SMPI_PRETEND_CC=1"
  NO_SONAME ON)
