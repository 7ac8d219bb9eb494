// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/checked_message.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/random.hpp"

namespace hockney {
namespace {

// Memory for a message and its checksum; most messages are small.
class Envelope {
 public:
  explicit Envelope(std::size_t bytes) : bytes_(bytes) {
    if (size() > small_.size()) large_.resize(size());
  }
  std::byte* data() { return large_.empty() ? small_.data() : large_.data(); }
  std::size_t size() const { return bytes_ + sizeof(std::uint64_t); }
  std::uint64_t sum() { return checksum(data(), bytes_); }
  void seal() {
    const std::uint64_t word = sum();
    std::memcpy(data() + bytes_, &word, sizeof word);
  }
  bool intact() {
    std::uint64_t word = 0;
    std::memcpy(&word, data() + bytes_, sizeof word);
    return word == sum();
  }

 private:
  std::size_t bytes_;
  std::array<std::byte, 256> small_;
  std::vector<std::byte> large_;
};

}  // namespace

std::uint64_t checksum(const void* data, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(data);
  std::uint64_t sum = mix(bytes);
  for (std::size_t offset = 0; offset < bytes; offset += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + offset, bytes - offset < sizeof word ? bytes - offset : sizeof word);
    sum = mix(sum ^ word);
  }
  return sum;
}

#ifdef HOCKNEY_SMPI

void send_checked(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm) {
  MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm);
}

void receive_checked(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm) {
  MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

#else

void send_checked(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm) {
  Envelope envelope(bytes);
  if (bytes) std::memcpy(envelope.data(), data, bytes);
  envelope.seal();
  MPI_Send(envelope.data(), static_cast<int>(envelope.size()), MPI_BYTE, to, tag, comm);
}

void receive_checked(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm) {
  Envelope envelope(bytes);
  MPI_Recv(envelope.data(), static_cast<int>(envelope.size()), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
  if (!envelope.intact()) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::fprintf(stderr, "hockney-corrupted rank=%d from=%d\n", rank, from);
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, corrupted_exit_code);
  }
  if (bytes) std::memcpy(data, envelope.data(), bytes);
}

#endif

}  // namespace hockney
