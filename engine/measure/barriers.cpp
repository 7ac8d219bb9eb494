// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"

#include "base/invalid_case.hpp"

namespace hockney {

std::unique_ptr<Barrier> chosen_barrier(const Place& place, const Values& values) {
  const std::string& name = values.word("algorithm");
  for (const BarrierAlgorithm* algorithm : all_barriers())
    if (name == algorithm->name) return algorithm->make(place.comm.handle);
  throw InvalidCase("algorithm=" + name + " is none of " + barrier_choices);
}

}  // namespace hockney
