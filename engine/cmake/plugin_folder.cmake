# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Each .cpp in a plug-in folder defines one or several descriptors in the folder's namespace, as
#   extern constinit const TYPE NAME
# at the start of a line. A single one is named like its file. The table of all descriptors is generated here,
# because self-registering statics are dropped from static libraries and break under SMPI.
#
#   hockney_plugin_folder(SOURCES FOLDER sync NAMESPACE sync TYPE BarrierAlgorithm HEADER sync/algorithm.hpp
#                         TABLE all_barriers CHOICES barrier_choices)
#
# sets SOURCES to the folder's files and its table: a function TABLE that returns a span of pointers to the
# descriptors, and CHOICES, their names separated by '|' (as in a parameter's choices). FIRST is an additional
# first choice that has no file. OPTIONS are compile options of the files. GROUP names the executable that the
# table is for, THREADS its MPI thread level.
set(HOCKNEY_ENGINE ${CMAKE_CURRENT_LIST_DIR}/..)
set(HOCKNEY_TABLE ${CMAKE_CURRENT_LIST_DIR}/table.cpp.in)

function(hockney_plugin_folder variable)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "FOLDER;NAMESPACE;TYPE;HEADER;TABLE;CHOICES;FIRST;GROUP;THREADS" "OPTIONS")
  file(GLOB files CONFIGURE_DEPENDS ${HOCKNEY_ENGINE}/${plugin_FOLDER}/*.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(names "")
  foreach(file IN LISTS files)
    file(STRINGS ${file} definitions REGEX "^extern constinit const ${plugin_TYPE} ")
    if(NOT definitions)
      message(FATAL_ERROR "${file} defines no ${plugin_TYPE}")
    endif()
    list(TRANSFORM definitions REPLACE "^extern constinit const ${plugin_TYPE} ([A-Za-z0-9_]+).*" "\\1")
    list(APPEND names ${definitions})
  endforeach()
  list(SORT names)
  list(LENGTH names count)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS names)
    string(APPEND declarations "extern const ${plugin_TYPE} ${name};\n")
    string(APPEND entries "      &${plugin_NAMESPACE}::${name},\n")
  endforeach()
  list(PREPEND names ${plugin_FIRST})
  list(JOIN names "|" names)
  set(constants "")
  if(plugin_CHOICES)
    string(APPEND constants "const char ${plugin_CHOICES}[] = \"${names}\";\n")
  endif()
  if(plugin_GROUP)
    string(APPEND constants "const char executable_name[] = \"${plugin_GROUP}\";\n")
    string(APPEND constants "const int thread_level = ${plugin_THREADS};\n")
  endif()
  if(plugin_OPTIONS)
    # Headers precompiled with other options cannot be used.
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "${plugin_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  string(REPLACE "/" "_" table ${plugin_FOLDER})
  set(table ${CMAKE_CURRENT_BINARY_DIR}/table_${table}.cpp)
  configure_file(${HOCKNEY_TABLE} ${table} @ONLY)
  set(${variable} ${files} ${table} PARENT_SCOPE)
endfunction()
