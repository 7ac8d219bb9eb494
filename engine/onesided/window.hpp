// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/memory.hpp"
#include "comm/shared.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/workload.hpp"

namespace hockney::onesided {

// Memory of this rank that other ranks access with one-sided operations. `memory` selects the type of window:
// allocate (MPI_Win_allocate), create (MPI_Win_create with memory of this class) or dynamic (memory attached
// to a window created without any).
class Window {
 public:
  // Collective. Throws OutOfMemory or InvalidCase, on all ranks.
  Window(const Place& place, const std::string& memory, std::uint64_t bytes)
      : comm_(place.comm), memory_(memory), bytes_(bytes) {
    run_on_all_ranks(comm_, [&] { take(place.arena); });
    window_ =
        make_window(comm_.handle, WaitPolicy(comm_.handle), [&](MPI_Win* window) { return make(window); });
    // At least one byte, because empty operations must not use a null address either.
    if (memory_ == "dynamic")
      MPI_Win_attach(window_, base_, static_cast<MPI_Aint>(std::max<std::uint64_t>(bytes_, 1)));
  }
  ~Window() {
    if (memory_ == "dynamic") {
      MPI_Barrier(comm_.handle);  // other ranks may still access it, and only freeing waits for them
      MPI_Win_detach(window_, base_);
    }
    MPI_Win_free(&window_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return window_; }
  std::span<std::byte> memory() const { return {base_, bytes_}; }

  // The offset of the partner's memory in its window. The partner calls this at the same time for this rank's
  // memory.
  MPI_Aint partner_base(int partner) const {
    if (memory_ != "dynamic") return 0;
    MPI_Aint own_address = 0, partner_address = 0;
    MPI_Get_address(base_, &own_address);
    MPI_Sendrecv(&own_address, 1, MPI_AINT, partner, tag, &partner_address, 1, MPI_AINT, partner, tag,
                 comm_.handle, MPI_STATUS_IGNORE);
    return partner_address;
  }

 private:
  static constexpr int tag = 2;
  static constexpr std::size_t unchecked_bytes = std::size_t{64} << 20;

  void take(Arena& arena) {
    if (memory_ != "allocate") {
      own_memory_.emplace(arena, bytes_, "hot");
      base_ = own_memory_->next();
      return;
    }
    // Overcommitted memory kills a rank when it is touched, so check first. A tenth is left for other
    // processes.
    const auto ranks_on_host = static_cast<std::size_t>(arena.ranks_on_host());
    if (bytes_ > unchecked_bytes / ranks_on_host && bytes_ > available_memory() / ranks_on_host / 10 * 9)
      throw OutOfMemory("a window of " + readable_bytes(bytes_) + " on each of " +
                        std::to_string(ranks_on_host) + " ranks does not fit into this host's memory");
  }

  int make(MPI_Win* window) {
    const auto bytes = static_cast<MPI_Aint>(bytes_);
    if (memory_ == "allocate") return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_.handle, &base_, window);
    if (memory_ == "create") return MPI_Win_create(base_, bytes, 1, MPI_INFO_NULL, comm_.handle, window);
    return MPI_Win_create_dynamic(MPI_INFO_NULL, comm_.handle, window);
  }

  const Comm& comm_;
  const std::string memory_;
  const std::uint64_t bytes_;
  std::optional<Buffer> own_memory_;
  std::byte* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace hockney::onesided
