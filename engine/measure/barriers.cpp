// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"

#include "measure/choice.hpp"

namespace hockney {

std::unique_ptr<Barrier> make_chosen_barrier(const Place& place, const Values& values) {
  return find_algorithm(all_barriers(), values.word("algorithm")).make(place.comm.handle);
}

}  // namespace hockney
