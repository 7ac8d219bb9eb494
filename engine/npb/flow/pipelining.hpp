// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "measure/values.hpp"

// Parameters with which LU, BT and SP divide their pipelines: many small chunks start early on all ranks; few
// large chunks need few messages.
namespace hockney::npb::flow {

inline constexpr Parameter startup{
    "startup",
    Kind::real,
    "s",
    "0",
    0,
    1,
    "",
    "what a message of any size costs a rank, by which pipelined sweeps are divided into chunks; 0: as the "
    "description of a simulated machine has it, else 2 us"};

// The parameters of all kernels, followed by the kernel's additional ones.
template <std::size_t common, class... More>
constexpr std::array<Parameter, common + sizeof...(More)> with(
    const std::array<Parameter, common>& parameters, const More&... more) {
  std::array<Parameter, common + sizeof...(More)> all{};
  Parameter* local = std::copy(parameters.begin(), parameters.end(), all.begin());
  ((*local++ = more), ...);
  return all;
}

// A message's startup, as the number of points with the given operations each that a sweep processes in the
// same time. If the case does not give a rate (operations per second) and a startup, the values of a typical
// processor within a host are used.
inline double startup_points(double operations, const Values& values) {
  constexpr double typical_rate = 2e9, within_a_host = 2e-6;
  const double rate = values.real("rate"), startup = values.real("startup");
  return (startup > 0 ? startup : within_a_host) / (operations / (rate > 0 ? rate : typical_rate));
}

}  // namespace hockney::npb::flow
