// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "local/product.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {

// A directed graph: a circle through all nodes, and about eight additional edges per node. Lengths are small
// integers, so that sums are exact; since there are few edges, shortest paths consist of many of them.
class Graph {
 public:
  Graph(std::size_t nodes, std::uint64_t seed) : nodes_(nodes), seed_(seed) {}

  float length(std::size_t from, std::size_t to) const {
    if (from == to) return 0;
    const std::uint64_t random = mix(seed_ ^ (from * nodes_ + to));
    const bool is_edge = to == (from + 1) % nodes_ || random % nodes_ < 8;
    return is_edge ? static_cast<float>(1 + (random >> 32) % 1000) : local::no_path;
  }

  // The shortest paths from one node to all others, by Dijkstra's algorithm.
  std::vector<float> paths_from(std::size_t source) const {
    std::vector<float> lengths(nodes_, local::no_path);
    std::vector<std::pair<float, std::size_t>> heap{{0.0F, source}};
    lengths[source] = 0;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      const auto [reached, node] = heap.back();
      heap.pop_back();
      if (reached > lengths[node]) continue;
      for (std::size_t to = 0; to < nodes_; ++to) {
        const float candidate = reached + length(node, to);
        if (candidate >= lengths[to]) continue;
        lengths[to] = candidate;
        heap.emplace_back(candidate, to);
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
      }
    }
    return lengths;
  }

  // Compares some rows of a block of the result, which contains `rows` rows from `first_row` on and columns
  // from `first_column` on; `number` selects the rows.
  Check check(const float* block, std::size_t first_row, std::size_t rows, std::size_t first_column,
              std::size_t columns, const Payload& payload, std::uint64_t number) const {
    Check result;
    const std::size_t max_sources = std::max(std::size_t{1}, payload.max_bytes / (nodes_ * nodes_));
    const std::size_t begin = mix(seed_ + number) % rows;
    for (std::size_t s = 0; s < std::min(rows, max_sources); ++s) {
      const std::size_t i = (begin + s) % rows;
      const std::vector<float> expected = paths_from(first_row + i);
      const float* const row = block + i * columns;
      result.bytes += columns * sizeof(float);
      if (std::equal(row, row + columns, expected.begin() + static_cast<std::ptrdiff_t>(first_column)))
        continue;
      ++result.errors;
      if (result.first.empty())
        result.first = "paths from node " + std::to_string(first_row + i) + " are wrong";
    }
    return result;
  }

 private:
  std::size_t nodes_;
  std::uint64_t seed_;
};

}  // namespace hockney::kernels
