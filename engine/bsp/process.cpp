// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/core.hpp"
#include "bsp/queue.hpp"
#include "hockney/bsp.hpp"

namespace hockney::bsp::inline v1 {

Process::Process(MPI_Comm comm, const Settings& settings)
    : core_(std::make_unique<Core>(comm, settings, "")), pid_(core_->pid()), nprocs_(core_->nprocs()) {}

Process::~Process() = default;

double Process::time() const {
  return core_->time();
}

void Process::sync() {
  core_->sync();
}

std::uint64_t Process::superstep() const {
  return core_->superstep();
}

void Process::abort(const char* text) const {
  core_->fail(Call::abort, "%s", text);
}

std::size_t Process::tag_size(std::size_t bytes) {
  return core_->set_tag_size(bytes);
}

void Process::send_bytes(int pid, std::span<const std::byte> tag, std::span<const std::byte> payload) {
  if (tag.size() != core_->tag_size())
    core_->fail(Call::send, "a tag of %zu bytes (expected %zu, as tag_size() has set)", tag.size(),
                core_->tag_size());
  core_->send(Call::send, pid, tag.data(), payload.data(), payload.size());
}

std::optional<Message> Process::receive() {
  Queue& queue = core_->queue();
  if (queue.empty()) return std::nullopt;
  const Queue::Entry entry = queue.front();
  queue.pop();
  return Message({entry.tag, entry.tag_bytes}, {entry.payload, entry.payload_bytes});
}

std::size_t Process::messages() const {
  return core_->queue().messages();
}

std::size_t Process::message_bytes() const {
  return core_->queue().payload_bytes();
}

Registration Process::push_reg(void* memory, std::size_t bytes) {
  return Registration(core_->push(memory, bytes));
}

void Process::pop_reg(Registration registration) {
  core_->pop(registration.number());
}

void Process::put(int pid, const void* from, Registration to, std::size_t offset, std::size_t bytes) {
  core_->put(Call::put, pid, from, to.number(), nullptr, offset, bytes);
}

void Process::hpput(int pid, const void* from, Registration to, std::size_t offset, std::size_t bytes) {
  core_->put(Call::hpput, pid, from, to.number(), nullptr, offset, bytes);
}

void Process::get(int pid, Registration from, std::size_t offset, void* to, std::size_t bytes) {
  core_->get(Call::get, pid, from.number(), nullptr, offset, to, bytes);
}

void Process::hpget(int pid, Registration from, std::size_t offset, void* to, std::size_t bytes) {
  core_->get(Call::hpget, pid, from.number(), nullptr, offset, to, bytes);
}

void Process::record(bool on) {
  core_->record(on);
}

std::span<const Superstep> Process::supersteps() const {
  return core_->supersteps();
}

const Settings& Process::settings() const {
  return core_->settings();
}

}  // namespace hockney::bsp::inline v1
