# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# hockney-local: what one process computes in the kernels. A BLAS with a C interface and Highway's sort are used
# if they are found; HOCKNEY_LOCAL_LIBRARIES=OFF builds without them, as for simulated machines, where computing
# takes a preset time.
option(HOCKNEY_LOCAL_LIBRARIES "use a BLAS and Highway's sort, if they are found" ON)

file(GLOB local_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/local/*.cpp)
add_library(hockney-local STATIC EXCLUDE_FROM_ALL ${local_sources})
target_include_directories(hockney-local PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
# Keys and lengths are finite numbers.
target_compile_options(hockney-local PRIVATE -O3 -ffinite-math-only -fno-signed-zeros -fno-trapping-math -fno-math-errno
  -ffp-contract=fast)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_compile_definitions(hockney-local PRIVATE HOCKNEY_X86)
  set_source_files_properties(local/products_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(local/products_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mfma")
endif()

if(HOCKNEY_LOCAL_LIBRARIES AND NOT HOCKNEY_SMPI)
  find_path(HOCKNEY_CBLAS_HEADERS NAMES cblas.h cblas-openblas.h PATH_SUFFIXES openblas blis mkl)
  find_library(HOCKNEY_CBLAS_LIBRARY NAMES openblas blis-mt blis mkl_rt)
  if(HOCKNEY_CBLAS_HEADERS AND HOCKNEY_CBLAS_LIBRARY)
    target_include_directories(hockney-local SYSTEM PRIVATE ${HOCKNEY_CBLAS_HEADERS})
    target_compile_definitions(hockney-local PRIVATE HOCKNEY_CBLAS=<cblas.h>)
    target_link_libraries(hockney-local PUBLIC ${HOCKNEY_CBLAS_LIBRARY})
  endif()
  find_path(HOCKNEY_HIGHWAY_HEADERS hwy/contrib/sort/vqsort.h)
  find_library(HOCKNEY_HIGHWAY_LIBRARY hwy)
  find_library(HOCKNEY_HIGHWAY_SORT_LIBRARY hwy_contrib)
  if(HOCKNEY_HIGHWAY_HEADERS AND HOCKNEY_HIGHWAY_LIBRARY AND HOCKNEY_HIGHWAY_SORT_LIBRARY)
    target_include_directories(hockney-local SYSTEM PRIVATE ${HOCKNEY_HIGHWAY_HEADERS})
    target_compile_definitions(hockney-local PRIVATE HOCKNEY_VQSORT)
    target_link_libraries(hockney-local PUBLIC ${HOCKNEY_HIGHWAY_SORT_LIBRARY} ${HOCKNEY_HIGHWAY_LIBRARY})
  endif()
endif()
