// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "smpi/platform_shape.hpp"

namespace hockney::platform {
namespace {

// Every node is adjacent to every other one: there is no cable between them, or a single shared one.
class Star final : public Shape {
 public:
  explicit Star(bool bus) : bus_(bus) {}

  std::size_t cables() const override { return bus_ ? 1 : 0; }

  void route(std::size_t, std::size_t, Path& path) const override {
    if (bus_) path.push_back(0);
  }

 private:
  bool bus_;
};

// A torus or a mesh; node numbers grow along the first axis first. Messages go along one axis after the other
// (dimension-order routing, Dally and Seitz 1987), on a torus the shorter way round. If both ways are equally
// long, every other node goes upwards, so that the cables of both directions are used.
class Grid final : public Shape {
 public:
  Grid(std::vector<std::size_t> extents, bool wraps) : extents_(std::move(extents)), wraps_(wraps) {
    for (std::size_t extent : extents_) nodes_ *= extent;
  }

  std::size_t cables() const override { return nodes_ * extents_.size() * 2; }

  void route(std::size_t from, std::size_t to, Path& path) const override {
    std::size_t at = from;
    std::size_t stride = 1;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      const std::size_t extent = extents_[axis];
      std::size_t own_index = at / stride % extent;
      const std::size_t target_index = to / stride % extent;
      const std::size_t steps_upwards = (target_index + extent - own_index) % extent;
      const bool goes_upwards =
          wraps_ ? 2 * steps_upwards < extent + (own_index % 2 == 0 ? 1 : 0) : target_index > own_index;
      for (std::size_t step = 0, steps = goes_upwards ? steps_upwards : extent - steps_upwards;
           own_index != target_index && step < steps; ++step) {
        path.push_back((at * extents_.size() + axis) * 2 + (goes_upwards ? 1 : 0));
        const std::size_t next = (own_index + (goes_upwards ? 1 : extent - 1)) % extent;
        at = at - own_index * stride + next * stride;
        own_index = next;
      }
      stride *= extent;
    }
  }

 private:
  std::vector<std::size_t> extents_;
  bool wraps_;
  std::size_t nodes_ = 1;
};

// An extended generalised fat tree (Öhring, Ibel, Das and Kumar 1995) with parallel cables. On level l a
// switch is identified by the subtree below it and its index among the subtree's parents; level 0 is the
// nodes. Routes up are chosen by the destination's number, D-mod-k (Zahavi 2012), so that messages to
// different nodes diverge early; routes down are then determined.
class FatTree final : public Shape {
 public:
  FatTree(const std::vector<std::size_t>& down, const std::vector<std::size_t>& up,
          const std::vector<std::size_t>& cables) {
    std::size_t nodes = 1;
    for (std::size_t extent : down) nodes *= extent;
    std::size_t below = 1, twins = 1;
    for (std::size_t l = 0; l < down.size(); ++l) {
      Level level{down[l], up[l], cables[l], below, twins, cables_};
      cables_ += nodes / below * twins * up[l] * cables[l] * 2;
      below *= down[l];
      twins *= up[l];
      levels_.push_back(level);
    }
  }

  std::size_t cables() const override { return cables_; }

  void route(std::size_t from, std::size_t to, Path& path) const override {
    std::size_t top = 0;
    while (from / (levels_[top].below * levels_[top].down) != to / (levels_[top].below * levels_[top].down))
      ++top;
    for (std::size_t l = 0; l <= top; ++l) path.push_back(cable(levels_[l], from, to));
    for (std::size_t l = top + 1; l-- > 0;) path.push_back(cable(levels_[l], to, to) + 1);
  }

 private:
  // The cables from one level's switches to their parents.
  struct Level {
    std::size_t down, up, cables;
    std::size_t below;  // nodes below a switch of the lower level
    std::size_t twins;  // switches of the lower level above the same nodes
    std::size_t first;  // its first cable
  };

  // The cable above the switch over `node` that messages to `to` use.
  static std::size_t cable(const Level& level, std::size_t node, std::size_t to) {
    const std::size_t twin = to % level.twins;
    const std::size_t route = to / level.twins % (level.up * level.cables);
    return level.first + ((node / level.below * level.twins + twin) * level.up * level.cables + route) * 2;
  }

  std::vector<Level> levels_;
  std::size_t cables_ = 0;
};

// A dragonfly like Cray's Cascade (Faanes et al. 2012). Each router is connected to all other routers of its
// chassis, and to those at the same position in the group's other chassis; group i's router j (j - 1 if j >
// i) is connected to group j. Routes are the shortest: within a group first along the chassis, then across.
class Dragonfly final : public Shape {
 public:
  explicit Dragonfly(const std::vector<std::size_t>& counts)
      : groups_(counts[0]), chassis_(counts[1]), routers_(counts[2]), nodes_(counts[3]) {}

  std::size_t cables() const override { return group_cables_end() + groups_ * groups_; }

  void route(std::size_t from, std::size_t to, Path& path) const override {
    const std::size_t start = from / nodes_, end = to / nodes_;
    const std::size_t size = chassis_ * routers_;
    const std::size_t own_index = start / size, target_index = end / size;
    if (own_index == target_index) return route_in_group(own_index, start % size, end % size, path);
    const std::size_t out = target_index - (target_index > own_index ? 1 : 0),
                      in = own_index - (own_index > target_index ? 1 : 0);
    route_in_group(own_index, start % size, out, path);
    path.push_back(group_cables_end() + own_index * groups_ + target_index);
    route_in_group(target_index, in, end % size, path);
  }

 private:
  std::size_t chassis_cables_end() const { return groups_ * chassis_ * routers_ * routers_; }
  std::size_t group_cables_end() const {
    return chassis_cables_end() + groups_ * routers_ * chassis_ * chassis_;
  }

  void route_in_group(std::size_t group, std::size_t from, std::size_t to, Path& path) const {
    const std::size_t place = to % routers_;
    if (from % routers_ != place)
      path.push_back(((group * chassis_ + from / routers_) * routers_ + from % routers_) * routers_ + place);
    if (from / routers_ != to / routers_)
      path.push_back(chassis_cables_end() +
                     ((group * routers_ + place) * chassis_ + from / routers_) * chassis_ + to / routers_);
  }

  std::size_t groups_, chassis_, routers_, nodes_;
};

}  // namespace

std::unique_ptr<Shape> make_shape(const Description& d) {
  if (d.shape == "torus" || d.shape == "mesh") return std::make_unique<Grid>(d.dims, d.shape == "torus");
  if (d.shape == "fat-tree") return std::make_unique<FatTree>(d.down, d.up, d.cables);
  if (d.shape == "dragonfly") return std::make_unique<Dragonfly>(d.dragonfly);
  return std::make_unique<Star>(d.shape == "bus");
}

}  // namespace hockney::platform
