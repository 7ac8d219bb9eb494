# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# A component is a static library with public headers, installed on its own:
#
#   hockney_component(barrier HEADERS hockney/barrier.hpp SOURCES barrier.cpp ...)
#
# builds libhockney_barrier.a (or ARCHIVE) and the target hockney::barrier, which find_package(hockney
# COMPONENTS barrier) finds, and pkg-config by the archive's name. LINK names another component that it needs,
# which hockneyConfig.cmake then includes as well, and REQUIRES that one's archive.
include(GNUInstallDirs)
set(HOCKNEY_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/hockney)

function(hockney_component name)
  cmake_parse_arguments(PARSE_ARGV 1 component "" "ARCHIVE;DESCRIPTION;LINK;REQUIRES" "SOURCES;HEADERS")
  set(target hockney_${name})
  if(NOT component_ARCHIVE)
    set(component_ARCHIVE ${target})
  endif()
  add_library(${target} STATIC ${component_SOURCES})
  add_library(hockney::${name} ALIAS ${target})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${HOCKNEY_ENGINE}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${HOCKNEY_ENGINE})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
  # The headers are C++17, the implementation is C++20. Hidden visibility, so that a shared library built with
  # it exports only its own functions; position independent, so that it can be linked into one.
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name} OUTPUT_NAME ${component_ARCHIVE}
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} INTERFACE cxx_std_17)
  # Users of the installed library may compile without a wrapper: hockneyConfig.cmake finds this target.
  target_link_libraries(${target} INTERFACE ${component_LINK} $<INSTALL_INTERFACE:MPI::MPI_CXX>)
  install(TARGETS ${target} EXPORT ${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${name} NAMESPACE hockney:: FILE hockney-${name}.cmake DESTINATION ${HOCKNEY_CONFIG_FOLDER})
  foreach(header IN LISTS component_HEADERS)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${HOCKNEY_ENGINE}/include/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
  # Relative to the prefix if possible, so that both can be moved together.
  file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(hockney.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${component_ARCHIVE}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${component_ARCHIVE}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
