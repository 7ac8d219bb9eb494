// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Implementation of bsp.h: each function finds the core of its process.
#define BSP_API_UNREAD  // only declares attributes for callers
#include <bsp.h>

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstring>

#include "library/bsp/program.hpp"

namespace {

using hockney::bsp::Call;
using hockney::bsp::Core;
using hockney::bsp::Program;
using hockney::bsp::Queue;
using hockney::bsp::Registry;

Core& core(Call call) {
  Core* const running = Program::core();
  if (!running) [[unlikely]]
    Program::here().fail(call, "outside an SPMD section (expected between bsp_begin and bsp_end)");
  return *running;
}

template <class Pointer>
void require(Core& bsp, Call call, Pointer pointer, const char* what) {
  if (!pointer) bsp.fail(call, "%s is NULL", what);
}

// Converts to the program's type, int or size_t.
template <class Size>
Size convert_size(Core& bsp, Call call, std::size_t value, const char* what) {
  if (sizeof(Size) < sizeof value && value > INT_MAX)
    bsp.fail(call, "%s is %zu, which does not fit into an int (expected a pointer to size_t)", what, value);
  return static_cast<Size>(value);
}

template <class Size>
void set_tagsize(Size* tag_bytes) {
  Core& bsp = core(Call::set_tagsize);
  require(bsp, Call::set_tagsize, tag_bytes, "tag_bytes");
  // A negative int remains negative.
  const auto is_barrier_requested = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(*tag_bytes));
  *tag_bytes =
      convert_size<Size>(bsp, Call::set_tagsize, bsp.set_tag_size(is_barrier_requested), "the previous size");
}

template <class Count, class Size>
void qsize(Count* messages, Size* payload_bytes) {
  Core& bsp = core(Call::qsize);
  require(bsp, Call::qsize, messages, "messages");
  *messages = static_cast<Count>(
      convert_size<int>(bsp, Call::qsize, bsp.queue().messages(), "the number of messages"));
  if (payload_bytes)
    *payload_bytes =
        convert_size<Size>(bsp, Call::qsize, bsp.queue().payload_bytes(), "the size of all payloads");
}

template <class Size>
void get_tag(Size* payload_bytes, void* tag) {
  Core& bsp = core(Call::get_tag);
  require(bsp, Call::get_tag, payload_bytes, "payload_bytes");
  if (bsp.queue().empty()) {
    *payload_bytes = static_cast<Size>(-1);
    return;
  }
  const Queue::Entry entry = bsp.queue().front();
  if (entry.tag_bytes > 0) {
    require(bsp, Call::get_tag, tag, "tag");
    std::memcpy(tag, entry.tag, entry.tag_bytes);
  }
  *payload_bytes = convert_size<Size>(bsp, Call::get_tag, entry.payload_bytes, "the size of the payload");
}

void put(Call call, int pid, const void* src, void* dst, std::size_t offset, std::size_t nbytes) {
  Core& bsp = core(call);
  if (nbytes > 0) bsp.put(call, pid, src, bsp.find(dst), dst, offset, nbytes);
}

void get(Call call, int pid, const void* src, std::size_t offset, void* dst, std::size_t nbytes) {
  Core& bsp = core(call);
  if (nbytes > 0) bsp.get(call, pid, bsp.find(src), src, offset, dst, nbytes);
}

}  // namespace

extern "C" {

void bsp_init(void (*spmd)(void), int argc, char* argv[]) {
  Program::here().init(spmd, argc, argv);
}

void bsp_begin(int maxprocs) {
  Program::here().begin(maxprocs);
}

void bsp_end(void) {
  Program::here().end();
}

void bsp_vabort(const char* format, va_list values) {
  Program::here().abort(format, values);
}

void bsp_abort_va(const char* format, va_list values) {
  bsp_vabort(format, values);
}

void bsp_abort(const char* format, ...) {
  va_list values;
  va_start(values, format);
  bsp_vabort(format, values);
}

int bsp_nprocs(void) {
  return Program::here().nprocs();
}

int bsp_pid(void) {
  return core(Call::pid).pid();
}

double bsp_time(void) {
  return core(Call::time).time();
}

void bsp_sync(void) {
  core(Call::sync).sync();
}

void bsp_push_reg(const void* ident, size_t size) {
  core(Call::push_reg).push(ident, size);
}

void bsp_pop_reg(const void* ident) {
  core(Call::pop_reg).pop(ident);
}

void bsp_put(int pid, const void* src, void* dst, size_t offset, size_t nbytes) {
  put(Call::put, pid, src, dst, offset, nbytes);
}

void bsp_hpput(int pid, const void* src, void* dst, size_t offset, size_t nbytes) {
  put(Call::hpput, pid, src, dst, offset, nbytes);
}

void bsp_get(int pid, const void* src, size_t offset, void* dst, size_t nbytes) {
  get(Call::get, pid, src, offset, dst, nbytes);
}

void bsp_hpget(int pid, const void* src, size_t offset, void* dst, size_t nbytes) {
  get(Call::hpget, pid, src, offset, dst, nbytes);
}

void(bsp_set_tagsize)(int* tag_bytes) {
  set_tagsize(tag_bytes);
}

void bsp_set_tagsize_z(size_t* tag_bytes) {
  set_tagsize(tag_bytes);
}

void bsp_send(int pid, const void* tag, const void* payload, size_t payload_bytes) {
  core(Call::send).send(Call::send, pid, tag, payload, payload_bytes);
}

void bsp_hpsend(int pid, const void* tag, const void* payload, size_t payload_bytes) {
  core(Call::hpsend).send(Call::hpsend, pid, tag, payload, payload_bytes);
}

void bsp_qsize(int* messages, int* payload_bytes) {
  require(core(Call::qsize), Call::qsize, payload_bytes, "payload_bytes");
  qsize(messages, payload_bytes);
}

void bsp_qsize_iz(int* messages, size_t* payload_bytes) {
  qsize(messages, payload_bytes);
}

void bsp_qsize_ui(unsigned int* messages, int* payload_bytes) {
  require(core(Call::qsize), Call::qsize, payload_bytes, "payload_bytes");
  qsize(messages, payload_bytes);
}

void bsp_qsize_uz(unsigned int* messages, size_t* payload_bytes) {
  qsize(messages, payload_bytes);
}

void bsp_get_tag(int* payload_bytes, void* tag) {
  get_tag(payload_bytes, tag);
}

void bsp_get_tag_z(size_t* payload_bytes, void* tag) {
  get_tag(payload_bytes, tag);
}

void bsp_move(void* payload, size_t reception_bytes) {
  Core& bsp = core(Call::move);
  Queue& queue = bsp.queue();
  if (queue.empty()) bsp.fail(Call::move, "the queue is empty (expected a message)");
  if (static_cast<std::ptrdiff_t>(reception_bytes) < 0)
    bsp.fail(Call::move, "size of %td bytes (expected 0 or more)",
             static_cast<std::ptrdiff_t>(reception_bytes));
  const Queue::Entry entry = queue.front();
  const std::size_t bytes = std::min(reception_bytes, entry.payload_bytes);
  if (bytes > 0) {
    require(bsp, Call::move, payload, "payload");
    std::memcpy(payload, entry.payload, bytes);
  }
  queue.pop();
}

ptrdiff_t bsp_hpmove(void** tag, void** payload) {
  Core& bsp = core(Call::hpmove);
  require(bsp, Call::hpmove, tag, "tag");
  require(bsp, Call::hpmove, payload, "payload");
  Queue& queue = bsp.queue();
  if (queue.empty()) return -1;
  const Queue::Entry entry = queue.front();
  *tag = const_cast<std::byte*>(entry.tag);
  *payload = const_cast<std::byte*>(entry.payload);
  queue.pop();
  return static_cast<ptrdiff_t>(entry.payload_bytes);
}

void bsp_called_at(const char* file, int line) {
  Program::here().called_at(file, line);
}

}  // extern "C"
