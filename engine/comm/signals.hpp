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

// Empty messages between the ranks of a private communicator: their arrival, and optionally their tag, is the
// only information. Messages from one rank to another with the same tag arrive in the order in which they
// were sent.
class Signals {
 public:
  // Collective. Throws InvalidCase on all ranks if there are too many ranks to simulate.
  explicit Signals(MPI_Comm parent)
      : wait_policy_(parent), comm_(Comm::owner(wait_policy_.duplicate(require_simulatable_size(parent)))) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int rank() const { return comm_.rank; }
  int size() const { return comm_.size; }
  MPI_Comm handle() const { return comm_.handle; }
  const WaitPolicy& wait_policy() const { return wait_policy_; }

  // Sends a signal to a receiver that already waits, or will wait without sending first.
  void send(int to, int tag = 0) const {
    if (!wait_policy_.oversubscribed()) {
      MPI_Send(nullptr, 0, MPI_BYTE, to, tag, comm_.handle);
      return;
    }
    MPI_Request request = start(to, tag);
    wait_policy_.finish(request);
  }

  // Starts a send to be completed later.
  MPI_Request start(int to, int tag = 0) const {
    MPI_Request request;
    MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm_.handle, &request);
    return request;
  }
  // Starts a receive to be completed later.
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
    if (!wait_policy_.oversubscribed()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, comm_.handle, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Request request = expect(from, tag);
    wait_policy_.finish(request);
  }

  // Sends to one rank and receives from another, possibly the same. The receive is posted before the message
  // is sent, so that ranks that all send first do not wait for one another, whatever MPI's send protocol.
  void exchange(int to, int from, int tag = 0) const {
    MPI_Request request = expect(from, tag);
    send(to, tag);
    wait_policy_.finish(request);
  }

  // The same exchange in one MPI call.
  void send_receive(int to, int from, int tag = 0) const {
    if (wait_policy_.oversubscribed())
      exchange(to, from, tag);
    else
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, tag, nullptr, 0, MPI_BYTE, from, tag, comm_.handle,
                   MPI_STATUS_IGNORE);
  }

  // Broadcasts one byte with MPI, since an empty broadcast may do nothing.
  void broadcast_from(int root) const {
    char byte = 0;
    if (!wait_policy_.oversubscribed()) {
      MPI_Bcast(&byte, 1, MPI_BYTE, root, comm_.handle);
      return;
    }
    MPI_Request request;
    MPI_Ibcast(&byte, 1, MPI_BYTE, root, comm_.handle, &request);
    wait_policy_.finish(request);
  }

  // Receives the next message from any rank, and returns its tag.
  int receive_any() const {
    MPI_Status status;
    if (!wait_policy_.oversubscribed()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle, &status);
      return status.MPI_TAG;
    }
    MPI_Request request;
    MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle, &request);
    int is_complete = 0;
    wait_policy_.until([&] {
      MPI_Test(&request, &is_complete, &status);
      return is_complete != 0;
    });
    return status.MPI_TAG;
  }

 private:
  // Messages need a separate communicator in a simulation too: a message awaited from any source may arrive
  // early and match a receive of the surrounding steps. But SMPI's communicators hold a table of all ranks in
  // every rank.
  static MPI_Comm require_simulatable_size(MPI_Comm comm) {
#ifdef HOCKNEY_SMPI
    constexpr int most = 4096;
    int size = 1;
    MPI_Comm_size(comm, &size);
    if (size > most)
      throw InvalidCase("this barrier needs a separate communicator (a simulated one of " +
                        std::to_string(size) + " ranks takes gigabytes); simulate at most " +
                        std::to_string(most) + " ranks, or use algorithm=mpi");
#endif
    return comm;
  }

  WaitPolicy wait_policy_;
  Comm comm_;
};

}  // namespace hockney
