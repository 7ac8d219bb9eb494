// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "coll/algorithm.hpp"
#include "coll/elements.hpp"

namespace hockney::coll::allreduce {
namespace {

// Of P ranks, the first 2 (P - 2^k) form pairs: the even one of a pair hands its vector to the odd one, which
// stands for both. The 2^k ranks left exchange whole vectors with partners 1, 2, 4, ... places away: k steps,
// and two more where P is no power of two. Every rank adds in the same order, so all have the same bits.
class Allreduce {
 public:
  Allreduce(void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
      : result_(result), count_(count), type_(type), op_(op), comm_(comm), received_(count, type) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    MPI_Op_commutative(op, &commutes_);
  }

  int run() {
    int power = 1;
    while (power <= size_ / 2) power *= 2;
    const int paired = 2 * (size_ - power);
    int error = MPI_SUCCESS;
    if (rank_ < paired && rank_ % 2 == 0) {
      error = MPI_Send(result_, count_, type_, rank_ + 1, tag, comm_);
      return error == MPI_SUCCESS ? receive(result_, rank_ + 1) : error;
    }
    if (rank_ < paired) {
      error = receive(received_.data(), rank_ - 1);
      if (error == MPI_SUCCESS) error = combine(rank_ - 1);
    }
    const int place = rank_ < paired ? rank_ / 2 : rank_ - paired / 2;
    for (int step = 1; step < power && error == MPI_SUCCESS; step *= 2) {
      const int other = place ^ step;
      const int partner = other < paired / 2 ? 2 * other + 1 : other + paired / 2;
      error = MPI_Sendrecv(result_, count_, type_, partner, tag, received_.data(), count_, type_, partner,
                           tag, comm_, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS) error = combine(partner);
    }
    if (rank_ < paired && error == MPI_SUCCESS)
      error = MPI_Send(result_, count_, type_, rank_ - 1, tag, comm_);
    return error;
  }

 private:
  int receive(void* into, int from) const {
    return MPI_Recv(into, count_, type_, from, tag, comm_, MPI_STATUS_IGNORE);
  }
  // The lower ranks' part stands on the left, which MPI_Reduce_local takes first.
  int combine(int partner) const {
    if (commutes_ || partner < rank_) return MPI_Reduce_local(received_.data(), result_, count_, type_, op_);
    const int error = MPI_Reduce_local(result_, received_.data(), count_, type_, op_);
    copy(received_.data(), result_, count_, type_);
    return error;
  }

  void* const result_;
  const int count_;
  const MPI_Datatype type_;
  const MPI_Op op_;
  const MPI_Comm comm_;
  const Elements received_;
  int rank_ = 0;
  int size_ = 1;
  int commutes_ = 0;
};

int call(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (outgoing != MPI_IN_PLACE) copy(outgoing, incoming, count, type);
  return Allreduce(incoming, count, type, op, comm).run();
}

}  // namespace

extern constinit const CollectiveAlgorithm<operation::allreduce> recursive_doubling{
    "recursive_doubling", "partners 1, 2, 4, ... ranks away exchange whole vectors",
    "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005), 4.5",
    call};

}  // namespace hockney::coll::allreduce
