# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# HOCKNEY_BARRIERS: the sources of the shelf of barriers, with the table of all of them. Each .cpp defines one descriptor
# named like the file.
function(hockney_barriers variable)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/*.cpp)
  list(SORT files)
  set(declarations "")
  set(entries "")
  set(names "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(APPEND declarations "extern const BarrierAlgorithm ${name};\n")
    list(APPEND names ${name})
    string(APPEND entries "      &sync::${name},\n")
  endforeach()
  list(JOIN names "|" names)
  set(table ${CMAKE_CURRENT_BINARY_DIR}/barriers.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/table.cpp.in ${table} @ONLY)
  set(${variable} ${files} ${table} PARENT_SCOPE)
endfunction()
hockney_barriers(HOCKNEY_BARRIERS)
