// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/values.hpp"

// Parameters that several workloads use, so that a name has the same meaning everywhere.
namespace hockney::parameters {

inline constexpr double largest_bytes = 1099511627776.0;  // 1 TiB; in practice memory is the limit

inline constexpr const char* element_bytes = "8";  // size of a reduction's element

constexpr Parameter bytes(const char* help, const char* multiple_of = "") {
  return {"bytes", Kind::integer, "B", "8", 0, largest_bytes, "", help, multiple_of};
}

// Size of the vector in reductions.
inline constexpr Parameter vector_bytes = bytes("bytes of the vector, a multiple of 8", element_bytes);

inline constexpr Parameter buffers{
    "buffers",
    Kind::choice,
    "",
    "hot",
    0,
    0,
    "hot|written|cold",
    "hot: the same buffers each time, in cache, never rewritten; written: the sender has just written what "
    "it "
    "sends, and the receiver reads it, both outside the timed part; cold: buffers rotate through more memory "
    "than the caches hold"};

inline constexpr Parameter sync{
    "sync",
    Kind::choice,
    "",
    "barrier",
    0,
    0,
    "barrier|window|loop",
    "how repetitions start: after MPI_Barrier (barrier), at a set time of a synchronised "
    "clock (window), or 64 back to back (loop)"};

// For workloads whose parameters determine a repetition completely.
inline constexpr Parameter sync_each{
    "sync",
    Kind::choice,
    "",
    "barrier",
    0,
    0,
    "barrier|window",
    "how repetitions start: after MPI_Barrier (barrier), or at a set time of a "
    "synchronised clock (window)"};

inline constexpr Parameter exchange{
    "exchange",
    Kind::choice,
    "",
    "ordered",
    0,
    0,
    "ordered|sendrecv|nonblocking|persistent|neighborhood",
    "ordered: MPI_Send and MPI_Recv, half of the ranks sending first; MPI_Sendrecv; MPI_Isend and MPI_Irecv; "
    "persistent requests; MPI_Neighbor_alltoall"};

constexpr Parameter work(const char* help) {
  return {"work", Kind::real, "s", "0.001", 1e-9, 1e5, "", help};
}

inline constexpr Parameter window{"window", Kind::integer, "", "16",
                                  1,        4096,          "", "messages in flight at once"};

inline constexpr Parameter root{"root", Kind::integer, "", "0", 0, 1e7, "", "rank of the root"};

}  // namespace hockney::parameters
