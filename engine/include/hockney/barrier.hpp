// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A choice of barriers for MPI programs (C++17 or newer).
//
//   auto barrier = hockney::best_barrier(MPI_COMM_WORLD);
//   for (...) {
//     work();
//     barrier->wait();
//   }
//   barrier.reset();  // before MPI_Finalize
//
// Call these functions after MPI_Init, and compile the library with the MPI that the program uses: it does
// not link with an MPI of another family. All functions that take a communicator are collective over it and
// expect an intracommunicator. With MPI_THREAD_MULTIPLE several threads may call them concurrently with
// different communicators, otherwise one thread at a time, as for MPI itself. MPI errors go to the
// communicator's error handler. If MPI cannot allocate shared memory or a window, all ranks throw
// std::runtime_error; later errors on it abort the program, MPI's default for windows.
namespace hockney {

// No rank leaves wait() before all ranks of the communicator have entered it.
//
// Created and destroyed collectively by all ranks of the communicator, in the same order as other collective
// operations on it, and destroyed before MPI_Finalize. It holds a duplicate of its communicator and may
// outlive it: its messages match neither the program's nor those of other barriers on the same communicator.
// Any number of episodes may follow back to back.
//
// It synchronises ranks and what they have written to shared memory; it completes none of the program's
// messages or one-sided operations.
class Barrier {
 public:
  Barrier() = default;
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  virtual ~Barrier() = default;

  // Call it from one thread of each rank. A waiting rank lets MPI make progress now and then, including the
  // program's pending messages, so that a late rank may complete them first. Where ranks outnumber the cores
  // that they may use, waiting ranks yield theirs.
  virtual void wait() = 0;

  // The algorithm's name, one of barrier_names(); empty for a barrier from elsewhere.
  std::string_view name() const { return name_; }

 private:
  friend struct BarrierNaming;
  std::string_view name_;
};

// How best_barrier() chose its barrier: the trials, fastest first, and their total time in seconds by rank
// 0's clock. There are no trials if the choice was remembered or there was only one candidate. The same on
// all ranks.
struct BarrierChoice {
  struct Trial {
    std::string name;
    double seconds;  // per episode: the median over rounds of the slowest rank's time
  };
  std::vector<Trial> trials;
  double seconds = 0;
};

// The fastest barrier for this communicator on this machine, found by trials. Collective; the same choice on
// all ranks.
//
// The first call for a communicator of this size and layout of ranks on nodes creates and times candidates,
// for at most 50 ms if ranks have their own cores. On shared cores it may take longer, because a step that
// has started cannot be interrupted: creating a candidate, one round, freeing. The process remembers the
// choice, and later calls for such a communicator create that barrier without trials, unless one of its ranks
// took no part in the first call. A candidate chosen untimed, because time was up, is not remembered.
// `choice`, if not null, receives the trials.
std::unique_ptr<Barrier> best_barrier(MPI_Comm comm, BarrierChoice* choice = nullptr);

// The barrier with this name. Collective. Throws, on all ranks alike, std::invalid_argument for a name that
// is not in barrier_names(), with a message that lists these, and std::runtime_error if this communicator or
// this MPI does not support it, such as shared memory between nodes.
std::unique_ptr<Barrier> make_barrier(std::string_view name, MPI_Comm comm);

// The names of all algorithms, sorted. Not collective; does not need MPI.
std::vector<std::string> barrier_names();

}  // namespace hockney
