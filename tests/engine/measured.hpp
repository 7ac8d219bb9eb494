// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"
#include "comm/environment.hpp"
#include "measure/measure.hpp"

// Shared by the tests of measuring.
namespace checks {

using namespace hockney;

inline const Comm& control() {
  static const Comm comm = Comm::duplicate(MPI_COMM_WORLD);
  return comm;
}

inline Measurement measured(const WorkloadInfo& info, const char* sync,
                            StopRule rule = {.precision = 0.05, .budget_s = 0.3}) {
  const Comm& comm = control();
  Arena arena(count_ranks_on_host(comm));
  const Values values(std::map<std::string, std::string>{{"sync", sync}});
  return Measurer({comm, arena}, comm, {3e-8, 1e-9}).measure(info, values, rule, now());
}

}  // namespace checks
