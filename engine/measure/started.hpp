// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney {

// An operation with separate functions to start and to complete it.
class NonblockingOperation {
 public:
  virtual ~NonblockingOperation() = default;
  // Starts the operation and stores requests() requests at `request`.
  virtual void start(MPI_Request* request) = 0;
  // Number of requests, the same on all ranks.
  virtual int requests() const { return 1; }
  // Whether this rank computes during the operation; otherwise it waits for the operation immediately.
  virtual bool computes() const { return true; }
};

// A workload that measures such an operation by itself: the call, then MPI_Wait.
template <class Base>
class StartAndWait : public Base, public NonblockingOperation {
 public:
  using Base::Base;

  void run() final {
    MPI_Request request = MPI_REQUEST_NULL;
    start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

inline constexpr const char* time_of_call_and_wait = "the call and MPI_Wait, the maximum over the ranks";

}  // namespace hockney
