// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "onesided/window.hpp"

namespace hockney::onesided {

inline constexpr Parameter epoch{
    "epoch",
    Kind::choice,
    "",
    "fence",
    0,
    0,
    "fence|lock|lock_all|flush|flush_local|pscw",
    "synchronisation: MPI_Win_fence; MPI_Win_lock (shared) and unlock; MPI_Win_lock_all and "
    "unlock_all; MPI_Win_flush, or MPI_Win_flush_local, within one long epoch; or post, start, complete and "
    "wait"};

inline constexpr Parameter memory{"memory",
                                  Kind::choice,
                                  "",
                                  "allocate",
                                  0,
                                  0,
                                  "allocate|create|dynamic",
                                  "memory of the window: allocated by MPI (MPI_Win_allocate), provided "
                                  "(MPI_Win_create), or attached later"};

inline constexpr Parameter operations{
    "operations", Kind::integer, "", "1", 1, 4096, "", "operations per epoch, each on different bytes"};

inline constexpr const char* one_operation =
    "an epoch divided by its number of operations, the maximum over the ranks";

inline constexpr Parameter direction{"direction",
                                     Kind::choice,
                                     "",
                                     "one",
                                     0,
                                     0,
                                     "one|both",
                                     "one: each rank i of the lower half accesses the memory of rank i + "
                                     "p/2; both: the upper half also accesses that of the lower half"};

// Base class of one-sided operations: pairs of ranks from the lower and the upper half, a window, memory for
// the data that an origin sends and receives, and the synchronisation calls. The operations of an epoch use
// adjacent blocks of `block_bytes` bytes.
class OneSidedBase : public Workload {
 public:
  struct Needs {
    bool outgoing;
    bool incoming;
  };

  OneSidedBase(const Place& place, const Values& values, std::uint64_t block_bytes, Needs needs)
      : comm_(place.comm),
        epoch_(parse_epoch(values)),
        both_(values.word("direction") == "both"),
        lower_(comm_.rank < comm_.size / 2),
        partner_(lower_ ? comm_.rank + comm_.size / 2 : comm_.rank - comm_.size / 2),
        operations_(static_cast<std::size_t>(values.integer("operations"))),
        block_bytes_(block_bytes),
        window_(paired(place), values.word("memory"), block_bytes * operations_),
        target_(window_.partner_base(partner_)) {
    run_on_all_ranks(comm_, [&] {
      if (origin() && needs.outgoing) outgoing_.emplace(place.arena, block_bytes * operations_, "hot");
      if (origin() && needs.incoming) incoming_.emplace(place.arena, block_bytes * operations_, "hot");
    });
    if (epoch_ == Epoch::pscw) make_group();
  }
  ~OneSidedBase() override {
    if (locked_) MPI_Win_unlock_all(window_.handle());
    if (group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
  }

  // Completes the local writes to the windows before any rank accesses them.
  void prepare(int) override {
    switch (epoch_) {
      case Epoch::fence: MPI_Win_fence(0, window_.handle()); break;
      case Epoch::flush:
      case Epoch::flush_local:
        if (!locked_) MPI_Win_lock_all(0, window_.handle());
        locked_ = true;
        MPI_Win_sync(window_.handle());
        MPI_Barrier(comm_.handle);
        MPI_Win_sync(window_.handle());
        break;
      case Epoch::lock:
      case Epoch::lock_all:
        publish();
        MPI_Barrier(comm_.handle);
        break;
      case Epoch::pscw: MPI_Barrier(comm_.handle); break;
    }
  }

  // In passive epochs the target cannot detect by itself whether its origin has finished.
  bool keeps_payload() const override { return epoch_ == Epoch::fence || epoch_ == Epoch::pscw; }

  double operations() const override { return static_cast<double>(operations_); }
  std::uint64_t bytes_moved() const override {
    return block_bytes_ * static_cast<std::uint64_t>(comm_.size / 2) * (both_ ? 2 : 1);
  }

 protected:
  enum class Epoch { fence, lock, lock_all, flush, flush_local, pscw };

  // Calls `operate()` if this rank is an origin, between the calls that begin and complete the epoch.
  template <class Operate>
  void in_epoch(Operate operate) {
    const MPI_Win window = window_.handle();
    switch (epoch_) {
      case Epoch::fence:
        if (origin()) operate();
        MPI_Win_fence(0, window);
        break;
      case Epoch::lock:
        if (!origin()) break;
        MPI_Win_lock(MPI_LOCK_SHARED, partner_, 0, window);
        operate();
        MPI_Win_unlock(partner_, window);
        break;
      case Epoch::lock_all:
        if (!origin()) break;
        MPI_Win_lock_all(0, window);
        operate();
        MPI_Win_unlock_all(window);
        break;
      case Epoch::flush:
        if (!origin()) break;
        operate();
        MPI_Win_flush(partner_, window);
        break;
      case Epoch::flush_local:
        if (!origin()) break;
        operate();
        MPI_Win_flush_local(partner_, window);
        break;
      case Epoch::pscw:
        if (target()) MPI_Win_post(group_, 0, window);
        if (origin()) {
          MPI_Win_start(group_, 0, window);
          operate();
          MPI_Win_complete(window);
        }
        if (target()) MPI_Win_wait(window);
        break;
    }
  }

  bool origin() const { return lower_ || both_; }
  bool target() const { return !lower_ || both_; }
  // The position in the partner's window.
  MPI_Aint place(std::size_t operation) const {
    return target_ + static_cast<MPI_Aint>(operation * block_bytes_);
  }

  // Makes the results of the operations visible in this rank's memory. Collective if keeps_payload() is
  // false.
  void make_visible() {
    switch (epoch_) {
      case Epoch::flush:
      case Epoch::flush_local:
        if (epoch_ == Epoch::flush_local && origin()) MPI_Win_flush(partner_, window_.handle());
        MPI_Barrier(comm_.handle);
        MPI_Win_sync(window_.handle());
        break;
      case Epoch::lock:
      case Epoch::lock_all:
        MPI_Barrier(comm_.handle);
        publish();
        break;
      default: break;
    }
  }

  MPI_Win window() const { return window_.handle(); }
  std::span<std::byte> memory() const { return window_.memory(); }
  std::byte* out() { return outgoing_->next(); }
  std::byte* in() { return incoming_->next(); }
  std::span<std::byte> outgoing() { return outgoing_->upcoming(); }
  std::span<std::byte> incoming() { return incoming_->upcoming(); }

  const Comm& comm_;
  const Epoch epoch_;
  const bool both_;
  const bool lower_;
  const int partner_;
  const std::size_t operations_;
  const std::uint64_t block_bytes_;

 private:
  static Epoch parse_epoch(const Values& values) {
    const std::string& text = values.word("epoch");
    if (text == "lock") return Epoch::lock;
    if (text == "lock_all") return Epoch::lock_all;
    if (text == "flush") return Epoch::flush;
    if (text == "flush_local") return Epoch::flush_local;
    return text == "pscw" ? Epoch::pscw : Epoch::fence;
  }
  // Returns `place`. Throws if one rank would have no partner.
  static const Place& paired(const Place& place) {
    if (place.comm.size % 2 != 0)
      throw InvalidCase("ranks=" + std::to_string(place.comm.size) +
                        " is odd (each rank of the lower half has a partner in the upper half)");
    return place;
  }

  void make_group() {
    MPI_Group all;
    MPI_Win_get_group(window_.handle(), &all);
    MPI_Group_incl(all, 1, &partner_, &group_);
    MPI_Group_free(&all);
  }

  // An epoch on the rank itself synchronises its private view of the window with the public one.
  void publish() {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, comm_.rank, 0, window_.handle());
    MPI_Win_unlock(comm_.rank, window_.handle());
  }

  Window window_;
  const MPI_Aint target_;
  std::optional<Buffer> outgoing_;
  std::optional<Buffer> incoming_;
  MPI_Group group_ = MPI_GROUP_NULL;
  bool locked_ = false;
};

}  // namespace hockney::onesided
