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
    on_all(comm_, [&] { take(place.arena); });
    window_ = make_window(comm_.handle, WaitPolicy(comm_.handle), [&](MPI_Win* made) { return make(made); });
    // At least one byte, because empty operations must not use a null address either.
    if (memory_ == "dynamic")
      MPI_Win_attach(window_, base_, static_cast<MPI_Aint>(std::max<std::uint64_t>(bytes_, 1)));
  }
  ~Window() {
    if (memory_ == "dynamic") {
      MPI_Barrier(comm_.handle);  // others may still access it, and only freeing waits for them
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
  MPI_Aint base_of(int partner) const {
    if (memory_ != "dynamic") return 0;
    MPI_Aint own = 0, theirs = 0;
    MPI_Get_address(base_, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, partner, tag, &theirs, 1, MPI_AINT, partner, tag, comm_.handle,
                 MPI_STATUS_IGNORE);
    return theirs;
  }

 private:
  static constexpr int tag = 2;
  static constexpr std::size_t surely_there = std::size_t{64} << 20;

  void take(Arena& arena) {
    if (memory_ != "allocate") {
      own_.emplace(arena, bytes_, "hot");
      base_ = own_->next();
      return;
    }
    // Overcommitted memory kills a rank when it is touched, so check first. A tenth is left for other
    // processes.
    const auto sharing = static_cast<std::size_t>(arena.sharing());
    if (bytes_ > surely_there / sharing && bytes_ > available_memory() / sharing / 10 * 9)
      throw OutOfMemory("a window of " + readable_bytes(bytes_) + " on each of " + std::to_string(sharing) +
                        " ranks does not fit into this host's memory");
  }

  int make(MPI_Win* made) {
    const auto bytes = static_cast<MPI_Aint>(bytes_);
    if (memory_ == "allocate") return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_.handle, &base_, made);
    if (memory_ == "create") return MPI_Win_create(base_, bytes, 1, MPI_INFO_NULL, comm_.handle, made);
    return MPI_Win_create_dynamic(MPI_INFO_NULL, comm_.handle, made);
  }

  const Comm& comm_;
  const std::string memory_;
  const std::uint64_t bytes_;
  std::optional<Buffer> own_;
  std::byte* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace hockney::onesided
