// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <string>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"

namespace hockney {

// Collective: runs `step`, which may refuse the case and takes memory, on every rank. If that fails on one
// rank, all of them throw the same, so that either all ranks make the collective calls that follow, or none.
// InvalidCase takes precedence: one rank may lack the memory for what the next one refuses.
template <class Step>
void on_all(const Comm& comm, Step step) {
  std::string refused;
  std::string lacking;
  try {
    step();
  } catch (const InvalidCase& invalid) {
    refused = invalid.what();
  } catch (const OutOfMemory& error) {
    lacking = error.what();
  } catch (const std::bad_alloc&) {
    lacking = "a buffer cannot be allocated";
  }
  if (comm.all(refused.empty() && lacking.empty())) return;
  if (!comm.all(refused.empty()))
    throw InvalidCase(refused.empty() ? "another rank refuses this case" : refused);
  throw OutOfMemory(lacking.empty() ? "another rank's buffer does not fit into its host's memory" : lacking);
}

}  // namespace hockney
