// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of the BPRAM whose blocks are compared with what they must be; with a word as argument, a step that
// violates the pattern in one way. Prints "fine" on process 0.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "hockney/bpram.hpp"

namespace {

namespace bpram = hockney::bpram;
using Bytes = std::vector<std::byte>;

void require(bool holds, const char* what, int line) {
  if (holds) return;
  std::fprintf(stderr, "line %d: %s\n", line, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define REQUIRE(condition) require(condition, #condition, __LINE__)

Bytes block_of(int process, std::size_t bytes) {
  Bytes block(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    block[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(process) * 13 + bytes) % 251);
  return block;
}

// Every process sends to the one at each distance, itself included; lengths differ.
void rotate(bpram::Process& bpram, std::size_t bytes) {
  for (int distance = 0; distance < bpram.nprocs(); ++distance) {
    const auto length = [&](int process) { return bytes * static_cast<std::size_t>(process % 3); };
    const int to = (bpram.pid() + distance) % bpram.nprocs();
    const int from = (bpram.pid() + bpram.nprocs() - distance) % bpram.nprocs();
    Bytes room(2 * bytes + 5);
    const bpram::Received received = bpram.exchange(to, block_of(bpram.pid(), length(bpram.pid())), room);
    REQUIRE(received.from == from);
    REQUIRE(received.bytes == length(from));
    room.resize(received.bytes);
    REQUIRE(room == block_of(from, length(from)));
  }
}

// Process 0 sends to the last one, then process 1 does, which does not wait for the first step.
void overtake(bpram::Process& bpram) {
  const int last = bpram.nprocs() - 1;
  if (last < 2) return;
  std::vector<int> room(1);
  if (bpram.pid() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (int sender = 0; sender < 2; ++sender) {
    if (bpram.pid() == sender)
      bpram.send(last, std::vector<int>{sender});
    else if (bpram.pid() != last)
      bpram.pass();
    else
      REQUIRE(bpram.receive(room).from == sender && room[0] == sender);
  }
}

// Neighbors in pairs, in one direction and in the other; one process may be left over.
void pairs(bpram::Process& bpram) {
  const int partner = bpram.pid() ^ 1;
  for (int direction = 0; direction < 2; ++direction) {
    double value = -1;
    if (partner >= bpram.nprocs())
      bpram.pass();
    else if (bpram.pid() % 2 == direction)
      bpram.send(partner, std::vector<double>{0.5 + bpram.pid()});
    else
      REQUIRE(bpram.receive(std::span(&value, 1)).bytes == sizeof value && value == 0.5 + partner);
  }
}

// Only with checks do all of these end. Two processes suffice.
void violate(bpram::Process& bpram, const char* way) {
  std::vector<int> room(1);
  const std::vector<int> one{1}, two{1, 2};
  const auto is = [way](const char* name) { return std::strcmp(way, name) == 0; };
  if (is("collide"))
    bpram.exchange(0, one, room);
  else if (is("unwanted"))
    bpram.send(1 - bpram.pid(), one);
  else if (is("missing"))
    bpram.receive(room);
  else if (is("small"))
    bpram.exchange(1 - bpram.pid(), two, room);
  else if (is("range") && bpram.pid() == 0)
    bpram.send(bpram.nprocs(), one);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    bpram::Process bpram(MPI_COMM_WORLD);
    bpram::Process other(MPI_COMM_WORLD);  // the messages of two objects are separate
    if (argc > 1) violate(bpram, argv[1]);
    for (const std::size_t bytes : {0, 1, 1000, 300000}) {
      rotate(bpram, bytes);
      overtake(other);
      pairs(bpram);
    }
    REQUIRE(bpram.steps() == 4U * (static_cast<unsigned>(bpram.nprocs()) + 2U));
    REQUIRE(bpram.time() >= 0);
    if (bpram.pid() == 0) std::puts("fine");
  }
  MPI_Finalize();
}
