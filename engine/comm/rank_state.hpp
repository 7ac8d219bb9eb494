// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>

namespace hockney {

// State that belongs to a rank, or to a communicator on a rank, kept in MPI attributes. A simulator's ranks
// are contexts of one process and one thread: they share static and thread_local variables, but no MPI
// objects (docs/decisions/0015-per-rank-state.md).
//
// A T kept with a communicator, one per type, and destroyed with it. It is not copied to duplicates.
template <class T>
class CommState {
 public:
  // Null if there is none.
  static T* find(MPI_Comm comm) {
    void* state = nullptr;
    int there = 0;
    MPI_Comm_get_attr(comm, key(), &state, &there);
    return there ? static_cast<T*>(state) : nullptr;
  }

  static T& keep(MPI_Comm comm, std::unique_ptr<T> state) {
    T* const kept = state.release();
    MPI_Comm_set_attr(comm, key(), kept);
    return *kept;
  }

 private:
  // An attribute key of this process, valid while MPI runs. It is the same for all ranks, so simulated ranks
  // may share it.
  static int key() {
    static const int attribute_key = [] {
      int key = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(
          MPI_COMM_NULL_COPY_FN,
          [](MPI_Comm, int, void* state, void*) {
            delete static_cast<T*>(state);
            return static_cast<int>(MPI_SUCCESS);
          },
          &key, nullptr);
      return key;
    }();
    return attribute_key;
  }
};

// This rank's T: created on first use, between MPI_Init and MPI_Finalize, which destroys it before anything
// else. It is kept with MPI_COMM_SELF, whose attributes MPI deletes first (MPI-4.1, 11.2.4); in a simulator
// MPI_COMM_WORLD and its attributes are shared by all ranks.
template <class T>
class RankState {
 public:
  static T& get() {
    T* state = CommState<T>::find(MPI_COMM_SELF);
    if (state) return *state;
#ifndef HOCKNEY_SMPI  // whose ranks share a thread, and may be interrupted in T's constructor
    // A second T would replace, and thus destroy, the first, which another thread may already use.
    static std::mutex creating;
    const std::lock_guard lock(creating);
    state = CommState<T>::find(MPI_COMM_SELF);
    if (state) return *state;
#endif
    return CommState<T>::keep(MPI_COMM_SELF, std::make_unique<T>());
  }
};

}  // namespace hockney
