// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"
#include "measure/started.hpp"
#include "persistent/mpi4.hpp"

namespace hockney::persistent {

// A collective whose request is created once, then started and completed in each run.
template <class Base>
class Prepared : public Base, public NonblockingOperation {
 public:
  ~Prepared() override {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  // Not in the constructor: a rank without enough memory would make the others wait here.
  void prepare(int) final {
    if (request_ == MPI_REQUEST_NULL) make_request(&request_);
  }

  void run() final {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  // MPI_Wait on a copy of the handle completes the same request, which remains valid.
  void start(MPI_Request* request) final {
    MPI_Start(&request_);
    *request = request_;
  }

 protected:
  using Base::Base;

  virtual void make_request(MPI_Request* request) = 0;

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Returns `values`. Throws InvalidCase if this MPI lacks `call`; called before memory is allocated.
inline const Values& require_mpi4_values(const Values& values, const char* call, const char* alternative) {
  require_mpi4(call, alternative);
  return values;
}

inline constexpr const char* time_of_start_and_wait = "MPI_Start and MPI_Wait, the maximum over the ranks";

inline constexpr Parameter one_buffer{
    "buffers", Kind::choice,
    "",        "hot",
    0,         0,
    "hot",     "hot: the same buffer each time, because a persistent request is tied to its buffer"};

}  // namespace hockney::persistent
