# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# What a simulated machine needs in addition to the engine: custom MPI functions (linked into every
# executable), and the platform plug-in, which smpirun loads to build the machine: smpirun -platform
# libhockney-platform.so ... hockney-engine
file(GLOB smpi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/smpi/*.cpp)
set(platform_sources ${smpi_sources})
list(FILTER platform_sources INCLUDE REGEX "/platform[^/]*\\.cpp$")
list(FILTER smpi_sources EXCLUDE REGEX "/platform[^/]*\\.cpp$")

# Custom MPI functions must be part of the executable itself, so every executable contains them.
set(HOCKNEY_SMPI_CALLS ${smpi_sources})

# The plug-in belongs to the simulator, not to the simulated program: it is compiled without the macros that
# replace sleep, getenv and clocks by simulated ones. smpicxx omits them when asked to pretend to be a plain
# compiler (it prints a note for each file), and still passes its include paths. It links as usual: it always
# creates shared libraries.
add_library(hockney-platform SHARED ${platform_sources})
target_include_directories(hockney-platform PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(hockney-platform PROPERTIES
  CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;SMPI_PRETEND_CC=1"
  NO_SONAME ON)
