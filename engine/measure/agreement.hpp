// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <string>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"

namespace hockney {

// Runs `step`, which may reject the case and allocate memory, on every rank. Collective. If `step` fails on
// one rank, all ranks throw the same error, so that either all ranks make the subsequent collective calls or
// none does. InvalidCase takes precedence: one rank may lack memory for a case that another rank rejects.
template <class Step>
void run_on_all_ranks(const Comm& comm, Step step) {
  std::string rejection;
  std::string memory_error;
  try {
    step();
  } catch (const InvalidCase& invalid) {
    rejection = invalid.what();
  } catch (const OutOfMemory& error) {
    memory_error = error.what();
  } catch (const std::bad_alloc&) {
    memory_error = "a buffer cannot be allocated";
  }
  if (comm.all(rejection.empty() && memory_error.empty())) return;
  if (!comm.all(rejection.empty()))
    throw InvalidCase(rejection.empty() ? "another rank refuses this case" : rejection);
  throw OutOfMemory(memory_error.empty() ? "another rank's buffer does not fit into its host's memory"
                                         : memory_error);
}

}  // namespace hockney
