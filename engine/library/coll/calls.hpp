// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "coll/algorithm.hpp"
#include "hockney/coll.hpp"
#include "library/coll/arguments.hpp"
#include "library/coll/link.hpp"
#include "library/coll/operations.hpp"
#include "library/coll/packed.hpp"

// The calls, for the library and for the profiling interface. The two differ in `Calls`: its static functions
// bcast, gather, ... call MPI's own, and `seen(operation, algorithm, bytes)` is called with every choice, the
// indices of the operation and of the algorithm (-1 for MPI's own).
namespace hockney::calls {

using arguments::bytes_of;
using arguments::can_combine;
using arguments::separate;

// Index of an algorithm; -1 for "mpi". Throws std::invalid_argument for an unknown name.
inline int algorithm_index(const NamedOperation& operation, std::string_view name) {
  if (name == "mpi") return -1;
  const auto& find_known = operation.algorithms;
  const auto found = std::find(find_known.begin(), find_known.end(), name);
  if (found != find_known.end()) return static_cast<int>(found - find_known.begin());
  std::string names = "mpi";
  for (const auto& each : find_known) names += ", " + std::string(each);
  throw std::invalid_argument("unknown algorithm '" + std::string(name) + "'; known: " + names);
}

// Index of the algorithm that a table selects for a call; -1 for MPI's own.
inline int rule_algorithm(const coll::Table& table, int operation, int ranks, long long bytes) {
  for (const auto& rule : table.rules(operation))
    if (rule.first_ranks <= ranks && ranks <= rule.last_ranks && rule.first_bytes <= bytes &&
        bytes <= rule.last_bytes)
      return rule.place;
  return -1;
}

// Index of the chosen algorithm, the same on all ranks; -1 for MPI's own.
template <class Operation>
int chosen(const coll::Choice& choice, Link* link, MPI_Comm comm, long long bytes) {
  const int operation = place_of<Operation>();
  const bool is_by_name = !choice.name().empty();
  // Looked up even if MPI's own function is used, so that an unknown name is reported.
  const int named = is_by_name ? algorithm_index(operations_with_names()[static_cast<std::size_t>(operation)],
                                                 choice.name())
                               : -1;
  if (!link || bytes == 0) return -1;
  // This check precedes checks of arguments that may be wrong on this rank only, because the other ranks also
  // compare their tables.
  if (!is_by_name && !choice.table() && !link->has_same_table(comm)) return -1;
  if (bytes < 0 || bytes > INT_MAX) return -1;
  if (is_by_name) return named;
  return rule_algorithm(choice.table() ? *choice.table() : coll::environment_table(), operation, link->ranks,
                        bytes);
}

// Calls MPI's function, or the chosen algorithm with the communicator for it.
template <class Calls, class Operation, class Mpis, class Ours>
int call(const coll::Choice& choice, Link* link, MPI_Comm comm, long long bytes, Mpis&& call_mpi,
         Ours&& call_algorithm) {
  const int place = chosen<Operation>(choice, link, comm, bytes);
  Calls::seen(place_of<Operation>(), place, bytes);
  if (place < 0) return call_mpi();
  MPI_Comm own = MPI_COMM_NULL;
  int error = link->own(comm, own);
  if (error != MPI_SUCCESS) return error;
  try {
    error = call_algorithm(Operation::table()[static_cast<std::size_t>(place)]->call, own);
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  if (error != MPI_SUCCESS) MPI_Comm_call_errhandler(comm, error);
  return error;
}

// Returns the first error of several steps.
template <class... Steps>
int in_order(Steps&&... steps) {
  int error = MPI_SUCCESS;
  ((error = error == MPI_SUCCESS ? steps() : error), ...);
  return error;
}

inline bool rooted(const Link* link, int root) {
  return link && 0 <= root && root < link->ranks;
}

template <class Calls>
int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const long long bytes = rooted(link, root) && data != MPI_IN_PLACE ? bytes_of(count, type) : -1;
  return call<Calls, operation::bcast>(
      choice, link, comm, bytes, [&] { return Calls::bcast(data, count, type, root, comm); },
      [&](auto* algorithm, MPI_Comm own) {
        Packed vector(data, count, type, 1);
        const bool sends = link->rank == root;
        return in_order(
            [&] { return sends ? vector.pack() : MPI_SUCCESS; },
            [&] { return algorithm(vector.data(), static_cast<int>(bytes), MPI_BYTE, root, own); },
            [&] { return sends ? MPI_SUCCESS : vector.unpack(); });
      });
}

// The block that the root of a gather or scatter copies to itself: `sent` bytes into a block of `block`
// bytes. If these differ, the algorithm omits the copy. As in MPI's functions, only this copy is an error,
// and no block is truncated without an error.
struct OwnBlock {
  bool differs() const { return sent != block; }
  int copied(const void* from, void* to) const {
    std::memcpy(to, from, static_cast<std::size_t>(std::min(sent, block)));
    return sent > block ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  }

  long long sent, block;
};

template <class Calls>
int gather(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
           MPI_Datatype received_type, int root, MPI_Comm comm, const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const bool valid_root = rooted(link, root), at_root = valid_root && link->rank == root,
             in_place = at_root && outgoing == MPI_IN_PLACE;
  const long long own = in_place ? 0 : bytes_of(sent, sent_type);
  const bool valid =
      valid_root && own >= 0 &&
      (at_root ? separate(outgoing, sent_type, incoming, received_type) : outgoing != MPI_IN_PLACE);
  const long long bytes = !valid ? -1 : at_root ? bytes_of(received, received_type) : own;
  return call<Calls, operation::gather>(
      choice, link, comm, bytes,
      [&] { return Calls::gather(outgoing, sent, sent_type, incoming, received, received_type, root, comm); },
      [&](auto* algorithm, MPI_Comm messages) {
        const int block = static_cast<int>(bytes);
        const OwnBlock mine{in_place || !at_root ? bytes : own, bytes};
        Packed out(outgoing, sent, in_place ? MPI_BYTE : sent_type, 1);
        Packed in(at_root ? incoming : nullptr, received, at_root ? received_type : MPI_BYTE, link->ranks);
        const void* const from = mine.differs() ? MPI_IN_PLACE : out.data();
        int left_out = MPI_SUCCESS;
        const int error = in_order(
            [&] { return out.pack(); }, [&] { return from == MPI_IN_PLACE ? in.pack() : MPI_SUCCESS; },
            [&] {
              if (mine.differs())
                left_out = mine.copied(out.data(), static_cast<char*>(in.data()) + bytes * root);
              return algorithm(from, block, MPI_BYTE, in.data(), block, MPI_BYTE, root, messages);
            },
            [&] { return in.unpack(); });
        return error == MPI_SUCCESS ? left_out : error;
      });
}

template <class Calls>
int scatter(const void* outgoing, int sent, MPI_Datatype sent_type, void* incoming, int received,
            MPI_Datatype received_type, int root, MPI_Comm comm, const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const bool valid_root = rooted(link, root), at_root = valid_root && link->rank == root,
             in_place = at_root && incoming == MPI_IN_PLACE;
  const long long own = in_place ? 0 : bytes_of(received, received_type);
  const bool valid =
      valid_root && own >= 0 &&
      (at_root ? separate(incoming, received_type, outgoing, sent_type) : incoming != MPI_IN_PLACE);
  const long long bytes = !valid ? -1 : at_root ? bytes_of(sent, sent_type) : own;
  return call<Calls, operation::scatter>(
      choice, link, comm, bytes,
      [&] {
        return Calls::scatter(outgoing, sent, sent_type, incoming, received, received_type, root, comm);
      },
      [&](auto* algorithm, MPI_Comm messages) {
        const int block = static_cast<int>(bytes);
        const OwnBlock mine{bytes, in_place || !at_root ? bytes : own};
        Packed out(at_root ? outgoing : nullptr, sent, at_root ? sent_type : MPI_BYTE, link->ranks);
        Packed in(incoming, received, in_place ? MPI_BYTE : received_type, 1);
        void* const to = mine.differs() ? MPI_IN_PLACE : in.data();
        int left_out = MPI_SUCCESS;
        const int error = in_order(
            [&] { return out.pack(); },
            [&] { return algorithm(out.data(), block, MPI_BYTE, to, block, MPI_BYTE, root, messages); },
            [&] {
              if (mine.differs())
                left_out = mine.copied(static_cast<const char*>(out.data()) + bytes * root, in.data());
              return in.unpack();
            });
        return error == MPI_SUCCESS ? left_out : error;
      });
}

// allgather and alltoall, which differ in the number of blocks that a rank sends.
template <class Calls, class Operation>
int exchange(typename Operation::Call* call_mpi, bool all, const void* outgoing, int sent,
             MPI_Datatype sent_type, void* incoming, int received, MPI_Datatype received_type, MPI_Comm comm,
             const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const bool in_place = outgoing == MPI_IN_PLACE;
  const bool valid = !link || separate(outgoing, sent_type, incoming, received_type);
  const long long block = valid ? bytes_of(received, received_type) : -1;
  const long long bytes = in_place || bytes_of(sent, sent_type) == block ? block : -1;
  return call<Calls, Operation>(
      choice, link, comm, bytes,
      [&] { return call_mpi(outgoing, sent, sent_type, incoming, received, received_type, comm); },
      [&](auto* algorithm, MPI_Comm own) {
        const int block = static_cast<int>(bytes);
        Packed out(outgoing, sent, in_place ? MPI_BYTE : sent_type, all ? link->ranks : 1);
        Packed in(incoming, received, received_type, link->ranks);
        return in_order(
            [&] { return out.pack(); }, [&] { return in_place ? in.pack() : MPI_SUCCESS; },
            [&] { return algorithm(out.data(), block, MPI_BYTE, in.data(), block, MPI_BYTE, own); },
            [&] { return in.unpack(); });
      });
}

template <class Calls>
int reduce(const void* outgoing, void* incoming, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const bool valid_root = rooted(link, root), at_root = valid_root && link->rank == root;
  const bool valid = valid_root && can_combine(op, type) &&
                     (at_root ? separate(outgoing, incoming) : outgoing != MPI_IN_PLACE);
  const long long bytes = valid ? bytes_of(count, type) : -1;
  return call<Calls, operation::reduce>(
      choice, link, comm, bytes,
      [&] { return Calls::reduce(outgoing, incoming, count, type, op, root, comm); },
      [&](auto* algorithm, MPI_Comm own) {
        return algorithm(outgoing, incoming, count, type, op, root, own);
      });
}

// allreduce, reduce_scatter_block and scan.
template <class Calls, class Operation>
int combine(typename Operation::Call* call_mpi, const void* outgoing, void* incoming, int count,
            MPI_Datatype type, MPI_Op op, MPI_Comm comm, const coll::Choice& choice) {
  Link* const link = Link::of(comm);
  const bool valid = !link || (separate(outgoing, incoming) && can_combine(op, type));
  const long long bytes = valid ? bytes_of(count, type) : -1;
  return call<Calls, Operation>(
      choice, link, comm, bytes, [&] { return call_mpi(outgoing, incoming, count, type, op, comm); },
      [&](auto* algorithm, MPI_Comm own) { return algorithm(outgoing, incoming, count, type, op, own); });
}

// Uses the environment's table.
template <class Calls>
int barrier(MPI_Comm comm) {
  Link* const link = Link::of(comm);
  const int operation = place_of_barrier();
  Barrier* call_algorithm = nullptr;
  int place = -1;
  if (link && link->has_same_table(comm))
    place = rule_algorithm(coll::environment_table(), operation, link->ranks, 0);
  if (place >= 0) {
    const NamedOperation& find_known = operations_with_names()[static_cast<std::size_t>(operation)];
    call_algorithm = link->barrier(comm, find_known.algorithms[static_cast<std::size_t>(place)]);
  }
  Calls::seen(operation, call_algorithm ? place : -1, 0);
  if (!call_algorithm) return Calls::barrier(comm);
  const InternalCall inside;
  call_algorithm->wait();
  return MPI_SUCCESS;
}

}  // namespace hockney::calls
