// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>

#include "hockney/barrier.h"
#include "hockney/barrier.hpp"
#include "sync/algorithm.hpp"

#define HOCKNEY_C extern "C" __attribute__((visibility("default")))

struct hockney_barrier {
  std::unique_ptr<hockney::Barrier> barrier;
};

namespace {

template <class Make>
int made(MPI_Comm comm, hockney_barrier** result, const Make& make) {
  *result = nullptr;
  if (comm == MPI_COMM_NULL) return MPI_Barrier(comm);  // which is an error
  int error = MPI_SUCCESS;
  try {
    *result = new hockney_barrier{make()};
  } catch (const std::invalid_argument&) {
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    error = is_inter ? MPI_ERR_COMM : MPI_ERR_ARG;
  } catch (const std::exception&) {
    error = MPI_ERR_UNSUPPORTED_OPERATION;
  }
  if (error != MPI_SUCCESS) MPI_Comm_call_errhandler(comm, error);
  return error;
}

}  // namespace

HOCKNEY_C int hockney_best_barrier(MPI_Comm comm, hockney_barrier** barrier) {
  return made(comm, barrier, [comm] { return hockney::best_barrier(comm); });
}

HOCKNEY_C int hockney_make_barrier(const char* name, MPI_Comm comm, hockney_barrier** barrier) {
  return made(comm, barrier, [=] { return hockney::make_barrier(name ? name : "", comm); });
}

HOCKNEY_C void hockney_barrier_wait(hockney_barrier* barrier) {
  barrier->barrier->wait();
}

HOCKNEY_C const char* hockney_barrier_name(const hockney_barrier* barrier) {
  for (const hockney::BarrierAlgorithm* each : hockney::all_barriers())
    if (barrier->barrier->name() == each->name) return each->name;
  return "";
}

HOCKNEY_C void hockney_barrier_free(hockney_barrier** barrier) {
  delete *barrier;
  *barrier = nullptr;
}

HOCKNEY_C const char* hockney_barrier_names() {
  return hockney::barrier_choices;
}

HOCKNEY_C int hockney_best_barrier_f(MPI_Fint comm, hockney_barrier** barrier) {
  return hockney_best_barrier(MPI_Comm_f2c(comm), barrier);
}

HOCKNEY_C int hockney_make_barrier_f(const char* name, MPI_Fint comm, hockney_barrier** barrier) {
  return hockney_make_barrier(name, MPI_Comm_f2c(comm), barrier);
}
