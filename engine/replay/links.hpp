// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/order.hpp"

namespace hockney::replay {

// Links and the transfers on them, which share bandwidth with max-min fairness: no transfer can become faster
// without slowing down one that is already slower (D. Bertsekas, R. Gallager, Data Networks, 1992, section
// 6.5).
class Links {
 public:
  explicit Links(std::span<const double> rates);

  // Begins a transfer of `bytes` at `now` over all links of a route at once. The links are distinct.
  void add(std::uint32_t message, std::span<const std::uint32_t> route, double bytes, double now);

  // When the next transfer ends if none is added; infinity if there are no transfers.
  double next_end(double now);

  // Removes the transfers that end at `now`. Returns their messages in the order in which they were added.
  const std::vector<std::uint32_t>& ended(double now);

 private:
  struct Flow {
    std::uint32_t message = 0;
    std::uint32_t place = kNone;  // in `queue_`
    std::uint64_t number = 0;     // in the order in which they were added
    double left = 0, rate = 0, since = 0;
    bool fixed = false;
    std::uint64_t visit = 0;
    std::span<const std::uint32_t> route;
    std::vector<std::uint32_t> at;  // its place among the transfers of each of its links
  };
  struct Entry {
    std::uint32_t flow, link;  // `link`: which one of its route
  };
  struct Link {
    double capacity = 0, left = 0;
    std::uint32_t users = 0;
    bool changed = false;
    std::uint64_t visit = 0;
    std::vector<Entry> flows;
  };
  struct End {
    double time;
    std::uint32_t flow;
  };
  struct Share {
    double rate;
    std::uint32_t link;
  };

  void change(std::uint32_t link);
  void share(double now);
  void fix(std::uint32_t link, double rate, double now);
  void remove(std::uint32_t flow);
  void move(std::uint32_t place, End end);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  Numbers numbers_;
  std::vector<End> queue_;              // the transfers, that which ends first at the front (a heap)
  std::vector<std::uint32_t> changed_;  // links with other transfers than at the last sharing
  std::vector<std::uint32_t> component_;
  std::vector<Share> shares_;
  std::vector<std::uint32_t> over_, messages_;
  std::uint64_t added_ = 0, visit_ = 0;
  double almost_ = 0;  // so few bytes are none
};

}  // namespace hockney::replay
