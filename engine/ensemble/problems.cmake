# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# The optimisation problems of the annealing library. hockney_problems(SOURCES) sets SOURCES to their files and to
# a generated one with the instances in instances/: NAME.tsp is a TSPLIB file, NAME.dat a QAPLIB file, and NAME.sln
# its optimal solution. So an instance is added as a file, and found by programs without any file.
set(HOCKNEY_INSTANCES ${CMAKE_CURRENT_LIST_DIR}/instances)
set(HOCKNEY_INSTANCES_SOURCE ${CMAKE_CURRENT_LIST_DIR}/problems/instances.cpp.in)

function(hockney_problems variable)
  file(GLOB sources CONFIGURE_DEPENDS ${HOCKNEY_ENGINE}/ensemble/problems/*.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${HOCKNEY_INSTANCES}/*.tsp ${HOCKNEY_INSTANCES}/*.dat)
  list(SORT files)
  list(LENGTH files count)
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(kind ${file} EXT)
    string(SUBSTRING ${kind} 1 -1 kind)
    file(READ ${file} text)
    set(solution "")
    if(EXISTS ${HOCKNEY_INSTANCES}/${name}.sln)
      file(READ ${HOCKNEY_INSTANCES}/${name}.sln solution)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HOCKNEY_INSTANCES}/${name}.sln)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(APPEND entries "    {\"${name}\", \"${kind}\", R\"***(${text})***\", R\"***(${solution})***\"},\n")
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/instances.cpp)
  configure_file(${HOCKNEY_INSTANCES_SOURCE} ${table} @ONLY)
  set(${variable} ${sources} ${table} PARENT_SCOPE)
endfunction()
