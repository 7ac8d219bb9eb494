// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/abilities.hpp"
#include "base/invalid_case.hpp"
#include "base/random.hpp"
#include "comm/comm.hpp"
#include "measure/values.hpp"

namespace hockney::neighborhood {

// The ranks to which a rank sends and from which it receives, in MPI's order, and the communicator with this
// topology:
//    torus    a two-dimensional one (MPI_Dims_create, MPI_Cart_create): down, up, left and right, as numbered
//             by MPI. In a dimension with one or two ranks, both neighbors are the same rank.
//    random   the ranks form a ring in a random order, on which each sends to `degree` others. The distances
//             are random and the same for all, so every rank sends and receives equally many messages. With
//             few ranks, each sends to all others; a single rank sends to itself.
class Topology {
 public:
  // Throws InvalidCase if this MPI has no neighborhood collectives.
  Topology(const Comm& comm, const Values& values) : comm_(comm), torus_(values.word("topology") == "torus") {
#if !HOCKNEY_HAS_NEIGHBORHOOD
    throw InvalidCase(
        "this cannot be simulated (SimGrid's MPI has no neighborhood collectives); use "
        "round_robin exchange=nonblocking");
#endif
    if (torus_)
      find_torus();
    else
      draw(static_cast<std::uint64_t>(values.integer("seed")), values.integer("degree"));
  }
  ~Topology() {
    if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
  }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const std::vector<int>& sources() const { return sources_; }
  const std::vector<int>& destinations() const { return destinations_; }
  MPI_Comm handle() const { return handle_; }

  // Collective. This is not done in the constructor, because a rank without enough memory would make the
  // others wait here.
  void create() {
    if (handle_ != MPI_COMM_NULL) return;
    constexpr int keep_ranks = 0;
    if (torus_) {
      const int periodic[] = {1, 1};
      MPI_Cart_create(comm_.handle, 2, dims_, periodic, keep_ranks, &handle_);
      return;
    }
    const int degree = static_cast<int>(sources_.size());
    MPI_Dist_graph_create_adjacent(comm_.handle, degree, sources_.data(), MPI_UNWEIGHTED, degree,
                                   destinations_.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, keep_ranks, &handle_);
  }

 private:
  void find_torus() {
    MPI_Dims_create(comm_.size, 2, dims_);
    const int row = comm_.rank / dims_[1];
    const int column = comm_.rank % dims_[1];
    for (const int step : {dims_[0] - 1, 1}) sources_.push_back((row + step) % dims_[0] * dims_[1] + column);
    for (const int step : {dims_[1] - 1, 1}) sources_.push_back(row * dims_[1] + (column + step) % dims_[1]);
    destinations_ = sources_;
  }

  void draw(std::uint64_t seed, std::int64_t degree) {
    const auto size = static_cast<std::size_t>(comm_.size);
    const std::vector<int> ring = shuffled(size, seed);
    const auto place =
        static_cast<std::size_t>(std::find(ring.begin(), ring.end(), comm_.rank) - ring.begin());
    // The first elements of a random order of the distances 1 to P - 1.
    const std::vector<int> order = shuffled(std::max<std::size_t>(size - 1, 1), mix(seed));
    const std::size_t count = std::min(static_cast<std::size_t>(degree), order.size());
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t distance = (static_cast<std::size_t>(order[k]) + 1) % size;
      destinations_.push_back(ring[(place + distance) % size]);
      sources_.push_back(ring[(place + size - distance) % size]);
    }
  }

  // A permutation of 0 to `count` - 1 that only depends on the seed (Fisher and Yates), so that all ranks
  // agree.
  static std::vector<int> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t remaining = count; remaining > 1; --remaining)
      std::swap(order[remaining - 1], order[mix(mix(seed) ^ remaining) % remaining]);
    return order;
  }

  const Comm& comm_;
  const bool torus_;
  int dims_[2] = {0, 0};
  std::vector<int> sources_;
  std::vector<int> destinations_;
  MPI_Comm handle_ = MPI_COMM_NULL;
};

inline constexpr Parameter topology_parameter{"topology",
                                              Kind::choice,
                                              "",
                                              "torus",
                                              0,
                                              0,
                                              "torus|random",
                                              "a periodic two-dimensional grid, or a random graph"};

inline constexpr Parameter degree_parameter{
    "degree", Kind::integer, "", "4",
    1,        1e6,           "", "number of neighbors that each rank of the random graph sends to"};

inline constexpr Parameter seed_parameter{"seed", Kind::integer, "", "1",
                                          0,      1e15,          "", "seed of the random graph"};

}  // namespace hockney::neighborhood
