# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Compile options of both the engine and the library: include after project().
set(HOCKNEY_SANITIZE "" CACHE STRING "sanitizers to build with, as address,undefined")
option(HOCKNEY_CLANG_TIDY "check every source with clang-tidy while it is compiled (.clang-tidy)" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

if(HOCKNEY_SANITIZE)
  add_compile_options(-fsanitize=${HOCKNEY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${HOCKNEY_SANITIZE})
endif()

if(HOCKNEY_CLANG_TIDY)
  find_program(HOCKNEY_CLANG_TIDY_PROGRAM clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${HOCKNEY_CLANG_TIDY_PROGRAM} --quiet)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # they belong to another compiler
endif()

# ccache: hash the compiler behind the wrapper, not the wrapper's date; precompiled headers need the
# sloppiness.
find_program(HOCKNEY_CCACHE ccache)
if(HOCKNEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT HOCKNEY_CLANG_TIDY)
  string(TOLOWER "${CMAKE_CXX_COMPILER_ID}" compiler_type)
  string(REPLACE "gnu" "gcc" compiler_type "${compiler_type}")
  if(compiler_type MATCHES "^(gcc|clang)$")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_COMPILERCHECK=%compiler% --version"
      CCACHE_COMPILERTYPE=${compiler_type} CCACHE_SLOPPINESS=pch_defines,time_macros ${HOCKNEY_CCACHE})
    if(compiler_type STREQUAL "gcc")
      add_compile_options(-fpch-preprocess)
    endif()
  endif()
endif()

set(HOCKNEY_PRECOMPILED <mpi.h> <algorithm> <cstddef> <cstdint> <map> <memory> <span> <string> <string_view> <vector>)
