// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <string>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"

namespace hockney {

// Collective: runs `take`, which takes memory, on every rank. Where one rank lacks it, OutOfMemory is thrown
// on all of them, so that either all ranks make the collective calls of a set-up that follow, or none.
template <class Take>
void take_on_all(const Comm& comm, Take take) {
  std::string problem;
  try {
    take();
  } catch (const OutOfMemory& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "a buffer cannot be allocated";
  }
  if (comm.all(problem.empty())) return;
  throw OutOfMemory(problem.empty() ? "another rank's buffer does not fit into its host's memory" : problem);
}

}  // namespace hockney
