// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <complex>
#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "hockney/coll.hpp"

// The functions of hockney/coll.hpp for contiguous ranges of numbers (C++20):
//
//   std::vector<double> sums(n);
//   hockney::coll::allreduce(std::span(sums), MPI_SUM, comm);  // in place
//   hockney::coll::bcast(std::span(sums), 0, comm, "chain");
//
// They throw std::length_error if the lengths do not fit each other or the number of ranks, or exceed an int.
namespace hockney::coll {
inline namespace v1 {

template <class T>
concept Number = std::is_arithmetic_v<T> || std::same_as<T, std::byte> ||
                 std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

// The MPI datatype of a C++ type.
template <Number T>
MPI_Datatype mpi_type() {
  if constexpr (std::same_as<T, bool>)
    return MPI_CXX_BOOL;
  else if constexpr (std::same_as<T, std::byte>)
    return MPI_BYTE;
  else if constexpr (std::same_as<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::same_as<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::same_as<T, long double>)
    return MPI_LONG_DOUBLE;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return MPI_CXX_FLOAT_COMPLEX;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return MPI_CXX_DOUBLE_COMPLEX;
  else if constexpr (std::same_as<T, char>)
    return MPI_CHAR;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? MPI_INT8_T
           : sizeof(T) == 2 ? MPI_INT16_T
           : sizeof(T) == 4 ? MPI_INT32_T
                            : MPI_INT64_T;
  else
    return sizeof(T) == 1   ? MPI_UINT8_T
           : sizeof(T) == 2 ? MPI_UINT16_T
           : sizeof(T) == 4 ? MPI_UINT32_T
                            : MPI_UINT64_T;
}

namespace detail {

inline int length(std::size_t count, std::size_t blocks = 1) {
  if (blocks == 0 || count % blocks != 0 || count / blocks > INT_MAX)
    throw std::length_error("the length of a range does not fit this collective operation");
  return static_cast<int>(count / blocks);
}

inline int equal(std::size_t one, std::size_t other) {
  if (one != other) throw std::length_error("the lengths of two ranges of a collective operation differ");
  return length(one);
}

inline std::size_t ranks(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return static_cast<std::size_t>(size);
}

inline bool at(int root, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank == root;
}

}  // namespace detail

template <Number T>
int bcast(std::span<T> data, int root, MPI_Comm comm, const Choice& choice = {}) {
  return bcast(data.data(), detail::length(data.size()), mpi_type<T>(), root, comm, choice);
}

// `all` is significant at the root, where it has a block for each rank.
template <Number T>
int gather(std::span<const T> block, std::span<T> all, int root, MPI_Comm comm, const Choice& choice = {}) {
  const int count = detail::length(block.size());
  if (detail::at(root, comm)) detail::equal(block.size() * detail::ranks(comm), all.size());
  return gather(block.data(), count, mpi_type<T>(), all.data(), count, mpi_type<T>(), root, comm, choice);
}

template <Number T>
int scatter(std::span<const T> all, std::span<T> block, int root, MPI_Comm comm, const Choice& choice = {}) {
  const int count = detail::length(block.size());
  if (detail::at(root, comm)) detail::equal(block.size() * detail::ranks(comm), all.size());
  return scatter(all.data(), count, mpi_type<T>(), block.data(), count, mpi_type<T>(), root, comm, choice);
}

template <Number T>
int allgather(std::span<const T> block, std::span<T> all, MPI_Comm comm, const Choice& choice = {}) {
  const int count = detail::length(all.size(), detail::ranks(comm));
  detail::equal(block.size(), static_cast<std::size_t>(count));
  return allgather(block.data(), count, mpi_type<T>(), all.data(), count, mpi_type<T>(), comm, choice);
}

template <Number T>
int alltoall(std::span<const T> outgoing, std::span<T> incoming, MPI_Comm comm, const Choice& choice = {}) {
  detail::equal(outgoing.size(), incoming.size());
  const int count = detail::length(incoming.size(), detail::ranks(comm));
  return alltoall(outgoing.data(), count, mpi_type<T>(), incoming.data(), count, mpi_type<T>(), comm, choice);
}

// `result` is significant at the root.
template <Number T>
int reduce(std::span<const T> own, std::span<T> result, MPI_Op op, int root, MPI_Comm comm,
           const Choice& choice = {}) {
  if (detail::at(root, comm)) detail::equal(own.size(), result.size());
  return reduce(own.data(), result.data(), detail::length(own.size()), mpi_type<T>(), op, root, comm, choice);
}

template <Number T>
int allreduce(std::span<const T> own, std::span<T> result, MPI_Op op, MPI_Comm comm,
              const Choice& choice = {}) {
  const int count = detail::equal(own.size(), result.size());
  return allreduce(own.data(), result.data(), count, mpi_type<T>(), op, comm, choice);
}

// In place.
template <Number T>
int allreduce(std::span<T> data, MPI_Op op, MPI_Comm comm, const Choice& choice = {}) {
  return allreduce(MPI_IN_PLACE, data.data(), detail::length(data.size()), mpi_type<T>(), op, comm, choice);
}

template <Number T>
int reduce_scatter_block(std::span<const T> all, std::span<T> block, MPI_Op op, MPI_Comm comm,
                         const Choice& choice = {}) {
  detail::equal(block.size() * detail::ranks(comm), all.size());
  return reduce_scatter_block(all.data(), block.data(), detail::length(block.size()), mpi_type<T>(), op, comm,
                              choice);
}

template <Number T>
int scan(std::span<const T> own, std::span<T> result, MPI_Op op, MPI_Comm comm, const Choice& choice = {}) {
  const int count = detail::equal(own.size(), result.size());
  return scan(own.data(), result.data(), count, mpi_type<T>(), op, comm, choice);
}

}  // namespace v1
}  // namespace hockney::coll
