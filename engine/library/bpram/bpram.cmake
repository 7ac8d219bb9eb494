# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# The message-passing block PRAM.
file(GLOB bpram_sources CONFIGURE_DEPENDS bpram/*.cpp ${HOCKNEY_ENGINE}/bpram/*.cpp)
hockney_component(bpram ARCHIVE hockney-bpram LINK hockney_barrier REQUIRES hockney
  DESCRIPTION "Programs for the message-passing block PRAM, in C and C++"
  HEADERS bpram.h hockney/bpram.hpp
  SOURCES ${bpram_sources})
