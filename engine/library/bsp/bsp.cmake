# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# BSPlib: a static and a shared library, compiler wrappers, a launcher, and manual pages.
file(GLOB bsp_sources CONFIGURE_DEPENDS bsp/*.cpp ${HOCKNEY_ENGINE}/bsp/*.cpp)
hockney_component(bsp ARCHIVE hockney-bsp LINK hockney_barrier REQUIRES hockney
  DESCRIPTION "BSPlib: bulk synchronous parallel programs in C and C++"
  HEADERS bsp.h hockney/bsp.hpp
  SOURCES ${bsp_sources})
# The public function of puts is the hot one, and its parts are in several files.
target_compile_options(hockney_bsp PRIVATE -O3)

add_library(hockney_bsp_shared SHARED $<TARGET_OBJECTS:hockney_bsp>)
add_library(hockney::bsp_shared ALIAS hockney_bsp_shared)
set_target_properties(hockney_bsp_shared PROPERTIES
  EXPORT_NAME bsp_shared OUTPUT_NAME hockney-bsp LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(hockney_bsp_shared
  PRIVATE $<BUILD_INTERFACE:hockney_barrier> INTERFACE $<INSTALL_INTERFACE:MPI::MPI_CXX>)
target_include_directories(hockney_bsp_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS hockney_bsp_shared EXPORT bsp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The C compiler and the launcher of the same MPI.
get_filename_component(mpi_folder ${CMAKE_CXX_COMPILER} DIRECTORY)
get_filename_component(wrapper ${CMAKE_CXX_COMPILER} NAME)
set(HOCKNEY_MPICXX ${CMAKE_CXX_COMPILER})
string(REGEX REPLACE "(cxx|c\\+\\+|CC|icpc|icpx)" "cc" wrapper ${wrapper})
set(HOCKNEY_MPICC ${mpi_folder}/${wrapper})
if(HOCKNEY_SMPI)
  set(HOCKNEY_MPIEXEC ${mpi_folder}/smpirun)
else()
  string(REGEX REPLACE "^[a-z]*cc" "mpiexec" launcher ${wrapper})
  set(HOCKNEY_MPIEXEC ${mpi_folder}/${launcher})
endif()
set(HOCKNEY_BSP_LIB ${CMAKE_INSTALL_LIBDIR})
set(HOCKNEY_BSP_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
set(scripts "")
foreach(script bspcc bspc++ bsprun)
  set(HOCKNEY_BSP_COMPILER ${HOCKNEY_MPICC})
  set(HOCKNEY_BSP_RUNTIME "-lstdc++ -lm")
  set(HOCKNEY_BSP_LANGUAGE C)
  if(script STREQUAL "bspc++")
    set(HOCKNEY_BSP_COMPILER ${HOCKNEY_MPICXX})
    set(HOCKNEY_BSP_RUNTIME "-lm")
    set(HOCKNEY_BSP_LANGUAGE C++)
  endif()
  set(template ${script})
  if(NOT script STREQUAL "bsprun")
    set(template bspcc)
  endif()
  configure_file(bsp/${template}.in ${CMAKE_CURRENT_BINARY_DIR}/hockney-${script} @ONLY)
  list(APPEND scripts ${CMAKE_CURRENT_BINARY_DIR}/hockney-${script})
endforeach()
install(PROGRAMS ${scripts} DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY bsp/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.[137]")
