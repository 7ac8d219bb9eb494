// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"

#include "measure/choice.hpp"

namespace hockney {

std::unique_ptr<Barrier> chosen_barrier(const Place& place, const Values& values) {
  return chosen(all_barriers(), values.word("algorithm")).make(place.comm.handle);
}

}  // namespace hockney
