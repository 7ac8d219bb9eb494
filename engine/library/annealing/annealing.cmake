# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Ensemble simulated annealing, with its problems and the instances that come with them. No fused multiply-add,
# which compilers use differently.
include(${HOCKNEY_ENGINE}/ensemble/problems.cmake)
hockney_plugin_folder(setups FOLDER ensemble/setups NAMESPACE annealing TYPE SetupInfo HEADER ensemble/setup.hpp
  TABLE all_setups CHOICES setup_choices)
hockney_problems(problems)
file(GLOB ensemble_sources CONFIGURE_DEPENDS ${HOCKNEY_ENGINE}/ensemble/*.cpp)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${HOCKNEY_ENGINE}/include ${HOCKNEY_ENGINE}/include/hockney/annealing/*.hpp)
hockney_component(annealing ARCHIVE hockney-annealing LINK hockney_barrier REQUIRES hockney
  DESCRIPTION "Ensemble simulated annealing for MPI programs"
  HEADERS hockney/annealing.hpp ${headers}
  SOURCES ${ensemble_sources} ${setups} ${problems} ${HOCKNEY_ENGINE}/base/words.cpp)
target_compile_features(hockney_annealing INTERFACE cxx_std_20)
target_compile_options(hockney_annealing PRIVATE -ffp-contract=off)
