// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/bpram.hpp"

#include <bpram.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

std::unique_ptr<hockney::bpram::Process> process;
bool finalizes_mpi = false;

hockney::bpram::Process& start_s(const char* function) {
  if (process) return *process;
  std::fprintf(stderr, "hockney-bpram: %s is called outside of bpram_begin and bpram_end\n", function);
  std::abort();
}

std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

std::span<std::byte> room_at(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), bytes};
}

std::size_t stored(const hockney::bpram::Received& received_block, int* from) {
  if (from) *from = received_block.from;
  return received_block.bytes;
}

}  // namespace

extern "C" {

void bpram_begin(void) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  finalizes_mpi = !initialized;
  if (finalizes_mpi) MPI_Init(nullptr, nullptr);
  process = std::make_unique<hockney::bpram::Process>(MPI_COMM_WORLD);
}

void bpram_end(void) {
  start_s("bpram_end");
  process.reset();
  if (finalizes_mpi) MPI_Finalize();
}

int bpram_nprocs(void) {
  return start_s("bpram_nprocs").nprocs();
}

int bpram_pid(void) {
  return start_s("bpram_pid").pid();
}

double bpram_time(void) {
  return start_s("bpram_time").time();
}

void bpram_abort(const char* text) {
  start_s("bpram_abort").abort(text);
}

size_t bpram_exchange(int to, const void* block, size_t bytes, void* room, size_t room_bytes, int* from) {
  return stored(
      start_s("bpram_exchange").exchange_bytes(to, bytes_at(block, bytes), room_at(room, room_bytes)), from);
}

void bpram_send(int to, const void* block, size_t bytes) {
  start_s("bpram_send").send_bytes(to, bytes_at(block, bytes));
}

size_t bpram_receive(void* room, size_t room_bytes, int* from) {
  return stored(start_s("bpram_receive").receive_bytes(room_at(room, room_bytes)), from);
}

void bpram_pass(void) {
  start_s("bpram_pass").pass();
}

}  // extern "C"
