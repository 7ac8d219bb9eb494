// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "hockney/coll.h"
#include "hockney/coll.hpp"

#define HOCKNEY_C extern "C" __attribute__((visibility("default"))) int

// Represents MPI_IN_PLACE in Fortran, where MPI's own is a variable with a different address in each
// implementation. Weak because hockney.f90 also defines it.
extern "C" __attribute__((visibility("default"), weak)) int hockney_in_place[1] = {};

namespace {

template <class Pointer>
Pointer in_place(Pointer data) {
  return data == hockney_in_place ? MPI_IN_PLACE : data;
}

template <class Call>
int called(MPI_Comm comm, const char* algorithm, const Call& call) {
  using hockney::coll::Choice;
  try {
    return call(algorithm ? Choice(algorithm) : Choice());
  } catch (const std::invalid_argument&) {
    MPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
    return MPI_ERR_ARG;
  }
}

}  // namespace

HOCKNEY_C hockney_bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                        const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::bcast(data, count, type, root, comm, choice);
  });
}

HOCKNEY_C hockney_gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
                         MPI_Datatype received_type, int root, MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::gather(outgoing, sent, sent_type, incoming, received, received_type, root, comm,
                                 choice);
  });
}

HOCKNEY_C hockney_scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                          int received, MPI_Datatype received_type, int root, MPI_Comm comm,
                          const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::scatter(outgoing, sent, sent_type, incoming, received, received_type, root, comm,
                                  choice);
  });
}

HOCKNEY_C hockney_allgather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                            int received, MPI_Datatype received_type, MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::allgather(outgoing, sent, sent_type, incoming, received, received_type, comm,
                                    choice);
  });
}

HOCKNEY_C hockney_alltoall(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming,
                           int received, MPI_Datatype received_type, MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::alltoall(outgoing, sent, sent_type, incoming, received, received_type, comm,
                                   choice);
  });
}

HOCKNEY_C hockney_reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                         int root, MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::reduce(outgoing, incoming, count, type, op, root, comm, choice);
  });
}

HOCKNEY_C hockney_allreduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::allreduce(outgoing, incoming, count, type, op, comm, choice);
  });
}

HOCKNEY_C hockney_reduce_scatter_block(const void* outgoing, void* incoming, int received, MPI_Datatype type,
                                       MPI_Op op, MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::reduce_scatter_block(outgoing, incoming, received, type, op, comm, choice);
  });
}

HOCKNEY_C hockney_scan(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, const char* algorithm) {
  return called(comm, algorithm, [&](const auto& choice) {
    return hockney::coll::scan(outgoing, incoming, count, type, op, comm, choice);
  });
}

HOCKNEY_C hockney_bcast_f(void* data, int count, MPI_Fint type, int root, MPI_Fint comm,
                          const char* algorithm) {
  return hockney_bcast(data, count, MPI_Type_f2c(type), root, MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_gather_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                           MPI_Fint received_type, int root, MPI_Fint comm, const char* algorithm) {
  return hockney_gather(in_place(outgoing), sent, MPI_Type_f2c(sent_type), in_place(incoming), received,
                        MPI_Type_f2c(received_type), root, MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_scatter_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                            MPI_Fint received_type, int root, MPI_Fint comm, const char* algorithm) {
  return hockney_scatter(in_place(outgoing), sent, MPI_Type_f2c(sent_type), in_place(incoming), received,
                         MPI_Type_f2c(received_type), root, MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_allgather_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming,
                              int received, MPI_Fint received_type, MPI_Fint comm, const char* algorithm) {
  return hockney_allgather(in_place(outgoing), sent, MPI_Type_f2c(sent_type), in_place(incoming), received,
                           MPI_Type_f2c(received_type), MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_alltoall_f(const void* outgoing, int sent, MPI_Fint sent_type, void* incoming, int received,
                             MPI_Fint received_type, MPI_Fint comm, const char* algorithm) {
  return hockney_alltoall(in_place(outgoing), sent, MPI_Type_f2c(sent_type), in_place(incoming), received,
                          MPI_Type_f2c(received_type), MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_reduce_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op,
                           int root, MPI_Fint comm, const char* algorithm) {
  return hockney_reduce(in_place(outgoing), in_place(incoming), count, MPI_Type_f2c(type), MPI_Op_f2c(op),
                        root, MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_allreduce_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op,
                              MPI_Fint comm, const char* algorithm) {
  return hockney_allreduce(in_place(outgoing), in_place(incoming), count, MPI_Type_f2c(type), MPI_Op_f2c(op),
                           MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_reduce_scatter_block_f(const void* outgoing, void* incoming, int received, MPI_Fint type,
                                         MPI_Fint op, MPI_Fint comm, const char* algorithm) {
  return hockney_reduce_scatter_block(in_place(outgoing), in_place(incoming), received, MPI_Type_f2c(type),
                                      MPI_Op_f2c(op), MPI_Comm_f2c(comm), algorithm);
}

HOCKNEY_C hockney_scan_f(const void* outgoing, void* incoming, int count, MPI_Fint type, MPI_Fint op,
                         MPI_Fint comm, const char* algorithm) {
  return hockney_scan(in_place(outgoing), in_place(incoming), count, MPI_Type_f2c(type), MPI_Op_f2c(op),
                      MPI_Comm_f2c(comm), algorithm);
}
