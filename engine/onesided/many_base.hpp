// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "onesided/window.hpp"

namespace hockney::onesided {

inline constexpr Parameter many_epoch{"epoch",
                                      Kind::choice,
                                      "",
                                      "flush",
                                      0,
                                      0,
                                      "flush|flush_local|fence",
                                      "synchronisation that completes the operations: MPI_Win_flush_all or "
                                      "MPI_Win_flush_local_all within one long epoch, or MPI_Win_fence"};

inline constexpr Parameter many_memory{
    "memory",
    Kind::choice,
    "",
    "allocate",
    0,
    0,
    "allocate|create",
    "memory of the window: allocated by MPI (MPI_Win_allocate), or provided "
    "(MPI_Win_create)"};

inline constexpr Parameter origins{
    "origins", Kind::choice, "", "all", 0, 0, "one|all", "ranks that start operations: rank 0, or all"};

inline constexpr Parameter targets{
    "targets",
    Kind::choice,
    "",
    "all",
    0,
    0,
    "all|neighbors",
    "targets of the operations: all other ranks, or the ranks before and after the origin"};

// Base class of operations of a rank on many other ranks: the origins and targets, a window with a slot for
// each rank that may write into it, and the calls around the operations.
class ManyBase : public Workload {
 public:
  ManyBase(const Place& place, const Values& values, std::size_t places, std::size_t outgoing,
           std::size_t incoming)
      : comm_(place.comm),
        block_(values.bytes()),
        epoch_(parse_epoch(values)),
        all_origins_(values.word("origins") == "all"),
        targets_(find_targets(place.comm, values)),
        window_(place, values.word("memory"), places * values.bytes()) {
    run_on_all_ranks(comm_, [&] {
      if (!origin()) return;
      outgoing_.emplace(place.arena, outgoing * values.bytes(), "hot");
      incoming_.emplace(place.arena, incoming * values.bytes(), "hot");
    });
  }
  ~ManyBase() override {
    if (locked_) MPI_Win_unlock_all(window_.handle());
  }

  // Makes the ranks' local writes to their windows visible before any operation.
  void prepare(int) override {
    const MPI_Win window = window_.handle();
    if (epoch_ == Epoch::fence) {
      MPI_Win_fence(0, window);
      return;
    }
    if (!locked_) MPI_Win_lock_all(0, window);
    locked_ = true;
    MPI_Win_sync(window);
    MPI_Barrier(comm_.handle);
    MPI_Win_sync(window);
  }

  void run() final {
    const MPI_Win window = window_.handle();
    if (origin()) operate();
    if (epoch_ == Epoch::fence)
      MPI_Win_fence(0, window);
    else if (origin() && epoch_ == Epoch::flush)
      MPI_Win_flush_all(window);
    else if (origin())
      MPI_Win_flush_local_all(window);
  }

  // The target of a passive epoch cannot detect by itself whether its origins have finished.
  bool keeps_payload() const override { return epoch_ == Epoch::fence; }
  // Counts all origins and targets.
  std::uint64_t bytes_moved() const override {
    return block_.bytes * targets_.size() * static_cast<std::uint64_t>(all_origins_ ? comm_.size : 1);
  }

 protected:
  virtual void operate() = 0;

  bool origins_all() const { return all_origins_; }
  bool origin() const { return all_origins_ || comm_.root(); }
  const std::vector<int>& targets() const { return targets_; }

  // Makes the results of the operations visible in the memory of all ranks. Collective if keeps_payload() is
  // false.
  void make_visible() {
    if (epoch_ == Epoch::fence) return;
    if (epoch_ == Epoch::flush_local && origin()) MPI_Win_flush_all(window_.handle());
    MPI_Barrier(comm_.handle);
    MPI_Win_sync(window_.handle());
  }

  MPI_Win window() const { return window_.handle(); }
  std::span<std::byte> memory() const { return window_.memory(); }
  template <class Span>
  Span block(Span all, std::size_t index) const {
    return all.subspan(index * block_.bytes, block_.bytes);
  }
  MPI_Aint place(std::size_t index) const { return static_cast<MPI_Aint>(index * block_.bytes); }

  const Comm& comm_;
  const Block block_;

 private:
  enum class Epoch { flush, flush_local, fence };
  static Epoch parse_epoch(const Values& values) {
    const std::string& text = values.word("epoch");
    return text == "fence" ? Epoch::fence : text == "flush" ? Epoch::flush : Epoch::flush_local;
  }
  static std::vector<int> find_targets(const Comm& comm, const Values& values) {
    if (values.word("targets") == "neighbors")
      return {(comm.rank + comm.size - 1) % comm.size, (comm.rank + 1) % comm.size};
    std::vector<int> other_ranks;
    for (int step = 1; step < comm.size; ++step) other_ranks.push_back((comm.rank + step) % comm.size);
    return other_ranks;
  }

  const Epoch epoch_;
  const bool all_origins_;
  const std::vector<int> targets_;
  Window window_;
  bool locked_ = false;

 protected:
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
};

}  // namespace hockney::onesided
