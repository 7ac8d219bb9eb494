// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/sizes.hpp"

namespace hockney::profile {

std::int64_t size_of_type(ThreadState& thread, Handle type) {
  if (type == mpi.type_null) return -1;  // MPI would call an error handler
  auto& known = thread.types[(type ^ type >> 6) % ThreadState::recent_types];
  if (known.type == type && known.epoch == communicator_epoch) return static_cast<std::int64_t>(known.bytes);
  std::int64_t bytes = -1;
  int narrow = 0;
  if (mpi.type_size_c) {
    if (mpi.type_size_c(type, &bytes) != 0) return -1;
  } else {
    if (mpi.type_size(type, &narrow) != 0 || narrow < 0) return -1;
    bytes = narrow;
  }
  known = {type, static_cast<std::uint64_t>(bytes), communicator_epoch};
  return bytes;
}

std::int64_t bytes_of(const Call& call, ThreadState& thread, Parameter how_many, Parameter type) {
  if (!call.has(how_many) || !call.has(type)) return -1;
  const std::int64_t size = size_of_type(thread, type_of(call, type));
  std::int64_t bytes = size < 0 ? -1 : size * call.count(how_many);
  if (bytes >= 0 && call.has(partitions_)) bytes *= call.integer(partitions_);
  return bytes;
}

namespace {

// The size of one block of a vector collective, averaged over the members.
std::int64_t mean_block(const Call& call, ThreadState& thread, const CommunicatorState& on,
                        Parameter how_many, Parameter type) {
  // A reduction scatters over the own group, all others have a block for each rank of the other one.
  const int members = type == type_ ? on.local_size : on.size;
  if (!call.has(how_many) || !call.has(type) || members <= 0) return -1;
  const std::int64_t size = size_of_type(thread, type_of(call, type));
  if (size < 0) return -1;
  std::int64_t elements = 0;
  for (int k = 0; k < members; ++k) elements += call.count(how_many, k);
  return elements * size / members;
}

}  // namespace

std::int64_t block_bytes(const Call& call, ThreadState& thread, const CommunicatorState& on) {
  const int root = call.has(root_) ? call.integer(root_) : 0;
  if (call.has(root_) && on.inter && root == mpi.proc_null) return -1;
  if (call.has(count_)) return bytes_of(call, thread, count_, type_);
  if (call.has(receive_types)) return -1;
  if (call.has(root_)) {
    const bool at_root = on.inter ? root == mpi.root : root == on.rank;
    const bool gathers = call.function().gathers;
    if (at_root == gathers)
      return call.has(receive_counts) ? mean_block(call, thread, on, receive_counts, receive_type)
                                      : bytes_of(call, thread, receive_count, receive_type);
    return call.has(send_counts) ? mean_block(call, thread, on, send_counts, send_type)
                                 : bytes_of(call, thread, send_count, send_type);
  }
  const Parameter type = call.has(receive_type) ? receive_type : type_;
  if (call.has(receive_counts)) return mean_block(call, thread, on, receive_counts, type);
  if (call.has(receive_count)) return bytes_of(call, thread, receive_count, type);
  return -1;
}

}  // namespace hockney::profile
