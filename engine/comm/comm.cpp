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

// Of a rank that waits asleep: it wakes up rarely enough not to disturb those that measure, and often enough
// not to keep them waiting afterwards.
constexpr double sleep_share = 1.0 / 16;  // of the time that it has waited so far
constexpr double shortest_sleep_s = 1e-4;
constexpr double longest_sleep_s = 5e-3;

// The size of the subtree of a binomial tree whose root is this rank, if it is complete; the rank that is so
// much lower is the one above it.
int subtree(const Comm& comm) {
  int bit = 1;
  while (bit < comm.size && !(comm.rank & bit)) bit <<= 1;
  return bit;
}

// Up a binomial tree: each rank combines the contributions of its subtree, then passes the result on.
template <class T, class Combine>
void onto_root(const Comm& comm, T* values, int count, Combine combine) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  std::vector<T> more(static_cast<std::size_t>(count));
  for (int bit = 1; bit < comm.size; bit <<= 1) {
    if (comm.rank & bit) {
      send_checked(values, bytes, comm.rank - bit, tag, comm.handle);
      return;
    }
    if (comm.rank + bit >= comm.size) continue;
    receive_checked(more.data(), bytes, comm.rank + bit, tag, comm.handle);
    std::transform(values, values + count, more.begin(), values, combine);
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
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) MPI_Comm_free(&handle);
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
  int bit = subtree(*this);
  if (!root()) receive_checked(data, bytes, rank - bit, tag, handle);
  while (bit >>= 1)
    if (rank + bit < size) send_checked(data, bytes, rank + bit, tag, handle);
}

void Comm::await_broadcast() const {
#ifndef HOCKNEY_SMPI  // a simulated rank that waits uses no processor
  if (root()) return;
  const int sender = rank - subtree(*this);
  const double began = now();
  for (;;) {
    int there = 0;
    MPI_Iprobe(sender, tag, handle, &there, MPI_STATUS_IGNORE);
    if (there) return;
    sleep_for(std::clamp(sleep_share * (now() - began), shortest_sleep_s, longest_sleep_s));
  }
#endif
}

// Down the tree: each rank gets the elements of its subtree, the ranks from itself on, and passes on those of
// the parts.
int Comm::scattered(std::vector<int> values) const {
  int bit = subtree(*this);
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
  return lowest(value ? 1 : 0) != 0;
}

int Comm::lowest(int value) const {
  onto_root(*this, &value, 1, [](int a, int b) { return std::min(a, b); });
  broadcast(value);
  return value;
}

void Comm::sum_each(std::uint64_t* values, int count) const {
  onto_root(*this, values, count, std::plus<>());
  broadcast(values, static_cast<std::size_t>(count) * sizeof *values);
}

double Comm::longest(double value) const {
  longest_each(&value, 1);
  return value;
}

void Comm::longest_each(double* values, int count) const {
  onto_root(*this, values, count, [](double a, double b) { return std::max(a, b); });
}

void Comm::lowest_each(double* values, int count) const {
  onto_root(*this, values, count, [](double a, double b) { return std::min(a, b); });
}

void Comm::total_each(double* values, int count) const {
  onto_root(*this, values, count, std::plus<>());
}

std::vector<double> Comm::gathered(const std::vector<double>& values) const {
  const std::string bytes =
      joined({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  std::vector<double> all(bytes.size() / sizeof(double));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::string Comm::joined(std::string text) const {
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

std::string Comm::joined_everywhere(std::string text) const {
  text = joined(std::move(text));
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
  const int rest = static_cast<int>(bytes % chunk);
  MPI_Datatype chunk_type;
  MPI_Type_contiguous(chunk, MPI_BYTE, &chunk_type);
  const int lengths[] = {chunks, rest};
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
