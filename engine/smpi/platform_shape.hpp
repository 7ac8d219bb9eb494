// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "smpi/platform_description.hpp"

namespace hockney::platform {

using Path = std::vector<std::size_t>;

// The connections between nodes: numbered cables, with one number for each direction, and the route between
// two nodes.
class Shape {
 public:
  virtual ~Shape() = default;

  virtual std::size_t cables() const = 0;

  // Appends the cables from node `from` to another node `to`, in order. The route never changes.
  virtual void route(std::size_t from, std::size_t to, Path& path) const = 0;
};

std::unique_ptr<Shape> make_shape(const Description& description);

}  // namespace hockney::platform
