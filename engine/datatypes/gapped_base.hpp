// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <climits>

#include "datatypes/layout.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/workload.hpp"

namespace hockney::datatypes {

// Base class of workloads on data with gaps: a source and a target with the gaps, and contiguous memory
// without them.
class GappedBase : public Workload {
 public:
  void fill(const Payload& payload) override {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    write_bytes(piece, payload, static_cast<std::uint64_t>(comm_.rank));
    layout_.scatter(piece.data(), source_.upcoming().data());
    std::fill(target_.upcoming().begin(), target_.upcoming().end(), Layout::gap_pattern);
  }

  bool keeps_payload() const override { return true; }
  std::uint64_t bytes_moved() const override { return layout_.bytes(); }

 protected:
  // `packs`: whether MPI_Pack is used, whose result may be longer than the data.
  GappedBase(const Place& place, const Values& values, bool packs)
      : comm_(place.comm),
        layout_(values),
        packed_size_(packs ? packed_size() : 0),
        source_(place.arena, layout_.extent(), "hot"),
        target_(place.arena, layout_.extent(), "hot"),
        piece_(place.arena, std::max(layout_.bytes(), static_cast<std::size_t>(packed_size_)), "hot") {}

  // Checks that the data are rank `from`'s, at the right positions, and that the gaps are unchanged.
  Check check_target(const Payload& payload, int from, const char* description) {
    const std::span<std::byte> piece = piece_.upcoming().first(layout_.bytes());
    layout_.gather(target_.current().data(), piece.data());
    Check check = check_bytes(piece, payload, static_cast<std::uint64_t>(from), description);
    return check += layout_.check_gaps(target_.current());
  }

  const Comm& comm_;
  const Layout layout_;
  const int packed_size_;
  Buffer source_;
  Buffer target_;
  Buffer piece_;

 private:
  int packed_size() const {
    if (layout_.bytes() > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(layout_.bytes()) + " is more than MPI_Pack can count");
    int bytes = 0;
    MPI_Pack_size(layout_.count(), layout_.type(), comm_.handle, &bytes);
    return bytes;
  }
};

}  // namespace hockney::datatypes
