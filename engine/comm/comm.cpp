// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/waits.hpp"
#include "comm/checked_message.hpp"

namespace hockney {
namespace {

constexpr int tag = 76;

// Polling interval of a sleeping rank: long enough not to disturb the ranks that measure, and short enough
// not to delay them afterwards.
constexpr double sleep_share = 1.0 / 16;  // relative to the time waited so far
constexpr double shortest_sleep_s = 1e-4;
constexpr double longest_sleep_s = 5e-3;

// Size of the subtree below this rank in a complete binomial tree. This rank's parent is lower by that size.
int subtree_size(const Comm& comm) {
  int bit = 1;
  while (bit < comm.size && !(comm.rank & bit)) bit <<= 1;
  return bit;
}

// Reduces along a binomial tree: each rank combines the contributions of its subtree, then sends the result
// to its parent.
template <class T, class Combine>
void combine_to_root(const Comm& comm, T* values, int count, Combine combine) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  std::vector<T> contribution(static_cast<std::size_t>(count));
  for (int bit = 1; bit < comm.size; bit <<= 1) {
    if (comm.rank & bit) {
      send_checked(values, bytes, comm.rank - bit, tag, comm.handle);
      return;
    }
    if (comm.rank + bit >= comm.size) continue;
    receive_checked(contribution.data(), bytes, comm.rank + bit, tag, comm.handle);
    std::transform(values, values + count, contribution.begin(), values, combine);
  }
}

}  // namespace

Comm& Comm::operator=(Comm&& other) noexcept {
  std::swap(handle, other.handle);
  std::swap(rank, other.rank);
  std::swap(size, other.size);
  std::swap(owned_, other.owned_);
  return *this;
}

Comm::~Comm() {
  if (!owned_) return;
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Comm_free(&handle);
}

Comm Comm::duplicate(MPI_Comm parent) {
#ifdef HOCKNEY_SMPI
  return view(parent);
#else
  MPI_Comm copy;
  MPI_Comm_dup(parent, &copy);
  return owner(copy);
#endif
}

Comm Comm::owner(MPI_Comm handle) {
  Comm comm = view(handle);
  comm.owned_ = true;
  return comm;
}

Comm Comm::view(MPI_Comm handle) {
  Comm comm;
  comm.handle = handle;
  MPI_Comm_rank(comm.handle, &comm.rank);
  MPI_Comm_size(comm.handle, &comm.size);
  return comm;
}

void Comm::broadcast(void* data, std::size_t bytes) const {
  int bit = subtree_size(*this);
  if (!root()) receive_checked(data, bytes, rank - bit, tag, handle);
  while (bit >>= 1)
    if (rank + bit < size) send_checked(data, bytes, rank + bit, tag, handle);
}

void Comm::await_broadcast() const {
#ifndef HOCKNEY_SMPI  // a simulated rank that waits uses no processor
  if (root()) return;
  const int sender = rank - subtree_size(*this);
  const double start_s = now();
  for (;;) {
    int there = 0;
    MPI_Iprobe(sender, tag, handle, &there, MPI_STATUS_IGNORE);
    if (there) return;
    sleep_for(std::clamp(sleep_share * (now() - start_s), shortest_sleep_s, longest_sleep_s));
  }
#endif
}

// Distributes along the tree: each rank receives the elements of its subtree, which starts with itself, and
// forwards the elements of its children's subtrees.
int Comm::scatter(std::vector<int> values) const {
  int bit = subtree_size(*this);
  values.resize(static_cast<std::size_t>(std::min(bit, size - rank)));
  if (!root()) receive_checked(values.data(), values.size() * sizeof(int), rank - bit, tag, handle);
  while (bit >>= 1) {
    const auto first = static_cast<std::size_t>(bit);
    if (first < values.size())
      send_checked(&values[first], (values.size() - first) * sizeof(int), rank + bit, tag, handle);
    values.resize(std::min(values.size(), first));
  }
  return values.front();
}

bool Comm::all(bool value) const {
  return reduce_min(value ? 1 : 0) != 0;
}

int Comm::reduce_min(int value) const {
  combine_to_root(*this, &value, 1, [](int a, int b) { return std::min(a, b); });
  broadcast(value);
  return value;
}

void Comm::allreduce_sum(std::uint64_t* values, int count) const {
  combine_to_root(*this, values, count, std::plus<>());
  broadcast(values, static_cast<std::size_t>(count) * sizeof *values);
}

double Comm::reduce_max(double value) const {
  reduce_max(&value, 1);
  return value;
}

void Comm::reduce_max(double* values, int count) const {
  combine_to_root(*this, values, count, [](double a, double b) { return std::max(a, b); });
}

void Comm::reduce_min(double* values, int count) const {
  combine_to_root(*this, values, count, [](double a, double b) { return std::min(a, b); });
}

void Comm::reduce_sum(double* values, int count) const {
  combine_to_root(*this, values, count, std::plus<>());
}

std::vector<double> Comm::gather(const std::vector<double>& values) const {
  const std::string bytes =
      gather_text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  std::vector<double> all(bytes.size() / sizeof(double));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::string Comm::gather_text(std::string text) const {
  for (int bit = 1; bit < size; bit <<= 1) {
    if (rank & bit) {
      const std::size_t length = text.size();
      send_checked(&length, sizeof length, rank - bit, tag, handle);
      send_checked(text.data(), length, rank - bit, tag, handle);
      break;
    }
    if (rank + bit >= size) continue;
    std::size_t length = 0;
    receive_checked(&length, sizeof length, rank + bit, tag, handle);
    const std::size_t before = text.size();
    text.resize(before + length);
    receive_checked(text.data() + before, length, rank + bit, tag, handle);
  }
  return text;
}

std::string Comm::allgather_text(std::string text) const {
  text = gather_text(std::move(text));
  std::size_t length = text.size();
  broadcast(length);
  text.resize(length);
  broadcast(text.data(), length);
  return text;
}

Block::Block(std::uint64_t size) : bytes(size) {
  if (bytes <= INT_MAX) {
    count = static_cast<int>(bytes);
    return;
  }
  // Chunks of 64 MiB and a remainder: one element of a struct type whose extent is exactly `bytes`.
  constexpr int chunk = 64 << 20;
  const int chunks = static_cast<int>(bytes / chunk);
  const int remainder = static_cast<int>(bytes % chunk);
  MPI_Datatype chunk_type;
  MPI_Type_contiguous(chunk, MPI_BYTE, &chunk_type);
  const int lengths[] = {chunks, remainder};
  const MPI_Aint displacements[] = {0, static_cast<MPI_Aint>(chunks) * chunk};
  const MPI_Datatype types[] = {chunk_type, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&chunk_type);
  count = 1;
}

Block::~Block() {
  if (type != MPI_BYTE) MPI_Type_free(&type);
}

}  // namespace hockney
