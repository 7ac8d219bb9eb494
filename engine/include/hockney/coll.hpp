// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Collective operations with a choice of algorithms, for MPI programs (C++17 or newer; with C++20 also
// hockney/coll_span.hpp).
//
//   hockney::coll::allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, comm);          // by the table
//   hockney::coll::allreduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, comm, "ring");  // by name
//
// The functions have the arguments of the MPI functions, return MPI_SUCCESS or an MPI error code, and call
// the error handler of `comm` for an error. All ranks must pass the same choice.
//
// MPI's own function is called for an intercommunicator, one rank, no bytes, a block or vector of more than
// 2 GiB, an invalid argument, and if it is the choice ("mpi"). All other arguments that MPI accepts are
// supported: MPI_IN_PLACE, any datatypes (also different ones on different ranks where MPI permits it), and
// noncommutative operations, which are applied in rank order. Data other than those of reductions travel as
// bytes: all ranks must represent numbers alike.
//
// Messages travel on a separate communicator, which is created by the first call on `comm` that needs one and
// freed with `comm`. Call these functions between MPI_Init and MPI_Finalize, with MPI_THREAD_MULTIPLE also
// concurrently on different communicators.
namespace hockney::coll {
inline namespace v1 {

// Which algorithm is used, by operation, number of ranks, and bytes of a rank's block or vector. Its text,
// as written by `hockney tune`, has a line for each rule, and # begins a comment:
//
//   hockney-choices 1
//   allreduce ranks=2 bytes=4096:65536 algorithm=ring
//   barrier ranks=2 bytes=0 algorithm=best
//
// Where no rule applies, or several do, MPI's own function or the first of the rules is used.
class Table {
 public:
  struct Rule {
    std::string operation;
    int first_ranks = 0, last_ranks = 0;
    std::int64_t first_bytes = 0, last_bytes = 0;
    std::string algorithm;  // "mpi" or one of algorithm_names()
    int place = -1;         // in algorithm_names(); -1 for "mpi"
  };

  // Empty: always MPI's own functions.
  Table();
  // Both throw std::runtime_error, with the file's name and the line, if it cannot be read or is no table.
  static Table read(const std::string& file);
  static Table parse(std::string_view text, std::string_view name = "table");

  // The choice for a call; "mpi" without a rule. Throws std::invalid_argument for an unknown operation.
  std::string_view choice(std::string_view operation, int ranks, std::int64_t bytes) const;

  const std::vector<Rule>& rules(int operation) const { return rules_[static_cast<std::size_t>(operation)]; }
  // Of equal rules equal, otherwise most likely different.
  std::uint64_t checksum() const { return checksum_; }

 private:
  std::vector<std::vector<Rule>> rules_;  // by operation
  std::uint64_t checksum_ = 0;
};

// The table in the file that the environment variable HOCKNEY_CHOICES names; empty without it. A file that
// cannot be read is reported on stderr and counts as empty. Ranks of a communicator whose tables differ use
// MPI's own functions.
const Table& environment_table();

// The operations, with "barrier", which only the preloaded library uses, and the algorithms of one, without
// "mpi". Throws std::invalid_argument for an unknown one.
std::vector<std::string> operation_names();
std::vector<std::string> algorithm_names(std::string_view operation);

// How a call chooses its algorithm. Lives no longer than what it was made of: use it as an argument.
class Choice {
 public:
  Choice() = default;  // environment_table()
  // "mpi", or one of algorithm_names(); the call throws std::invalid_argument, on all ranks, for another one.
  Choice(const char* algorithm) : name_(algorithm) {}
  Choice(std::string_view algorithm) : name_(algorithm) {}
  Choice(const std::string& algorithm) : name_(algorithm) {}
  Choice(const Table& table) : table_(&table) {}

  std::string_view name() const { return name_; }
  const Table* table() const { return table_; }

 private:
  std::string_view name_;
  const Table* table_ = nullptr;
};

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, const Choice& choice = {});
int gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
           MPI_Datatype received_type, int root, MPI_Comm comm, const Choice& choice = {});
int scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
            MPI_Datatype received_type, int root, MPI_Comm comm, const Choice& choice = {});
int allgather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
              MPI_Datatype received_type, MPI_Comm comm, const Choice& choice = {});
int alltoall(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
             MPI_Datatype received_type, MPI_Comm comm, const Choice& choice = {});
int reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, const Choice& choice = {});
int allreduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              const Choice& choice = {});
int reduce_scatter_block(const void* outgoing, void* incoming, int received, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, const Choice& choice = {});
int scan(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         const Choice& choice = {});

}  // namespace v1
}  // namespace hockney::coll
