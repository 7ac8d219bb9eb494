// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>
#include <string>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"
#include "comm/wait_policy.hpp"

namespace hockney {

// Empty messages between the ranks of a communicator of their own: that one comes is all it says, and its tag
// may say which. Messages from one rank to another with one tag arrive in the order in which they were sent.
class Signals {
 public:
  // Collective. Throws InvalidCase, on all ranks, where there are too many ranks to be simulated so.
  explicit Signals(MPI_Comm parent)
      : wait_policy_(parent), comm_(Comm::of(wait_policy_.duplicate(not_too_large(parent)))) {}
  ~Signals() { MPI_Comm_free(&comm_.handle); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int rank() const { return comm_.rank; }
  int size() const { return comm_.size; }
  MPI_Comm handle() const { return comm_.handle; }
  const WaitPolicy& wait_policy() const { return wait_policy_; }

  // For a rank that is waiting for it, or will be without sending first.
  void send(int to, int tag = 0) const {
    if (!wait_policy_.crowded()) {
      MPI_Send(nullptr, 0, MPI_BYTE, to, tag, comm_.handle);
      return;
    }
    MPI_Request request = start(to, tag);
    wait_policy_.finish(request);
  }

  // A send to be finished later.
  MPI_Request start(int to, int tag = 0) const {
    MPI_Request request;
    MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm_.handle, &request);
    return request;
  }
  // A receive to be finished later.
  MPI_Request expect(int from, int tag = 0) const {
    MPI_Request request;
    MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, comm_.handle, &request);
    return request;
  }
  void finish(MPI_Request& request) const { wait_policy_.finish(request); }
  void finish_all(std::span<MPI_Request> requests) const {
    wait_policy_.finish_all(static_cast<int>(requests.size()), requests.data());
  }

  void receive(int from, int tag = 0) const {
    if (!wait_policy_.crowded()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, comm_.handle, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request request = expect(from, tag);
    wait_policy_.finish(request);
  }

  // To one rank and from another, or the same one. The receive is there before the message is sent, so that
  // ranks that all send first do not wait for one another, however MPI sends.
  void exchange(int to, int from, int tag = 0) const {
    MPI_Request request = expect(from, tag);
    send(to, tag);
    wait_policy_.finish(request);
  }

  // The same in one call of MPI.
  void send_receive(int to, int from, int tag = 0) const {
    if (wait_policy_.crowded())
      exchange(to, from, tag);
    else
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, tag, nullptr, 0, MPI_BYTE, from, tag, comm_.handle,
                   MPI_STATUS_IGNORE);
  }

  // MPI's broadcast of one byte, since one of none may do nothing.
  void broadcast_from(int root) const {
    char byte = 0;
    if (!wait_policy_.crowded()) {
      MPI_Bcast(&byte, 1, MPI_BYTE, root, comm_.handle);
      return;
    }
    MPI_Request request;
    MPI_Ibcast(&byte, 1, MPI_BYTE, root, comm_.handle, &request);
    wait_policy_.finish(request);
  }

  // The tag of the next message from anyone.
  int receive_any() const {
    MPI_Status status;
    if (!wait_policy_.crowded()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle, &status);
      return status.MPI_TAG;
    }
    MPI_Request request;
    MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle, &request);
    int done = 0;
    wait_policy_.until([&] {
      MPI_Test(&request, &done, &status);
      return done != 0;
    });
    return status.MPI_TAG;
  }

 private:
  // Messages need a communicator of their own in a simulation too: one that is waited for from anyone may
  // come early, and meet a receive of the steps around. But SMPI's holds a table of all ranks in every rank.
  static MPI_Comm not_too_large(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
    constexpr int most = 4096;
    int size = 1;
    MPI_Comm_size(comm, &size);
    if (size > most)
      throw InvalidCase("this barrier needs a communicator of its own (a simulated one of " +
                        std::to_string(size) + " ranks takes gigabytes); simulate at most " +
                        std::to_string(most) + " ranks, or use algorithm=mpi");
#endif
    return comm;
  }

  WaitPolicy wait_policy_;
  Comm comm_;
};

}  // namespace hockney
