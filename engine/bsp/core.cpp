// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/core.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "bsp/settings.hpp"
#include "bsp/transports.hpp"
#ifdef HOCKNEY_SMPI
#include "smpi/library_costs.hpp"
#endif

namespace hockney::bsp::inline v1 {
namespace {

// With more processes, a single exchange of headers among all of them is not worth trying.
constexpr int max_alltoall_processes = 64;
// From these sizes on, a separate message is faster than copying the data into a packet and out of it.
constexpr std::size_t direct_message_bytes = std::size_t{64} << 10,
                      direct_shared_bytes = std::size_t{4} << 20;
// Larger buffers of outboxes are freed after the superstep.
constexpr std::size_t max_retained_outbox_bytes = std::size_t{16} << 20;

Comm duplicate(MPI_Comm comm, const WaitPolicy& wait_policy) {
  return wait_policy.oversubscribed() ? Comm::owner(wait_policy.duplicate(comm)) : Comm::duplicate(comm);
}

}  // namespace

Core::Core(MPI_Comm comm, const Settings& settings, const char* prefix)
    : wait_policy_(comm),
      comm_(duplicate(comm, wait_policy_)),
      settings_(completed(settings, comm_)),
      place_{prefix, nullptr, 0, comm_.rank, 0},
      registry_(comm_.rank, comm_.size),
      outboxes_(static_cast<std::size_t>(comm_.size)),
      delivery_(comm_, wait_policy_) {
  choose_transport();
  if (settings_.direct_bytes == 0)
    settings_.direct_bytes = settings_.path == Path::shared ? direct_shared_bytes : direct_message_bytes;
  direct_bytes_ = settings_.direct_bytes;
  special_bytes_ = settings_.check ? 0 : direct_bytes_;
  if (settings_.check) watch_ = std::make_unique<Watch>();
#ifdef HOCKNEY_SMPI
  is_counting_ = separate_ = smpi::library_costs().of_bsp();
#endif
  wait_policy_.meet(comm_.handle);
  began_ = now();
}

Core::~Core() {
  if (!ended_) end();
  transport_.reset();
}

// Selects the fastest available transport, by the measurements of all processes.
void Core::choose_transport() {
  std::vector<std::unique_ptr<Transport>> found;
  if (settings_.path != Path::messages && comm_.size > 1) {
    try {
      found.push_back(shared_transport(comm_, wait_policy_, settings_.shared_bytes));
    } catch (const InvalidCase&) {
      if (settings_.path == Path::shared) throw;
    }
  }
  if (settings_.path != Path::shared || found.empty()) {
    const bool is_small = comm_.size > 1 && comm_.size <= max_alltoall_processes;
    if (settings_.headers == Headers::alltoall || (settings_.headers == Headers::automatic && is_small))
      found.push_back(message_transport(comm_, wait_policy_, Headers::alltoall));
    if (settings_.headers != Headers::alltoall)
      found.push_back(message_transport(comm_, wait_policy_, Headers::log));
  }
  std::size_t best_index = 0;
  if (found.size() > 1) {
    std::vector<double> seconds;
    for (const auto& transport : found) seconds.push_back(measure_seconds(*transport));
    comm_.reduce_max(seconds.data(), static_cast<int>(seconds.size()));
    best_index = static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
    comm_.broadcast(best_index);
  }
  transport_ = std::move(found[best_index]);
  const std::string name = transport_->name();
  settings_.path = name == "shared" ? Path::shared : Path::messages;
  if (name != "shared") settings_.headers = name == "log" ? Headers::log : Headers::alltoall;
}

double Core::measure_seconds(Transport& transport) {
#ifdef HOCKNEY_SMPI  // every exchange takes the same time
  const int repetitions = 1, rounds = 0;
#else
  const int repetitions = wait_policy_.oversubscribed() ? 2 : 8,
            rounds = wait_policy_.oversubscribed() ? 1 : 3;
#endif
  double best_s = 0;
  for (int round = 0; round <= rounds; ++round) {  // the first round warms up
    const double start = now();
    for (int k = 0; k < repetitions; ++k) {
      incoming_.clear();
      transport.exchange({}, outboxes_, {}, incoming_);
      transport.finish();
    }
    const double seconds = now() - start;
    best_s = round <= 1 ? seconds : std::min(best_s, seconds);
  }
  return best_s;
}

double Core::time() const {
  return now() - began_;
}

void Core::sync() {
  charge_writing();
  const double entered = is_recording_ ? now() : 0;
  queue_.drop();
  if (watch_) watch_->check_unchanged(place_);
  incoming_.clear();
  if (const Disagreement found = transport_->exchange(agreement_, outboxes_, active_, incoming_)) [[unlikely]]
    report(found);
  if (agreement_.pushes > 0 || agreement_.pops > 0) update_registrations();
  if (watch_) watch_->check_overlaps(place_, incoming_);
  if (is_counting_) note_traffic();
  charge_exchanging();
  const double arrival_s = is_recording_ ? now() : 0;
  delivery_.run(*transport_, incoming_);
  transport_->finish();
  queue_.fill(incoming_.blocks[messages]);
  spend_reading();
  clear_outboxes();
  queued_tag_bytes_ = tag_bytes_;
  tag_bytes_ = agreement_.tag_bytes;
  agreement_.tag_calls = 0;
  ++place_.superstep;
  if (is_recording_) {
    current_.work_s = entered - resumed_;
    resumed_ = now();
    current_.sync_s = resumed_ - entered;
    current_.read_s = resumed_ - arrival_s;
    supersteps_.push_back(current_);
  }
  if (is_counting_) current_ = {};
}

void Core::clear_outboxes() {
  for (const int pid : active_) {
    Outbox& outbox = outboxes_[static_cast<std::size_t>(pid)];
    if (pid == comm_.rank && outbox.streams[messages].is_in_heap)
      std::swap(outbox.streams[messages].heap, self_messages_);
    outbox.clear();
    for (Stream& stream : outbox.streams)
      if (stream.heap.capacity() > max_retained_outbox_bytes) stream.heap.release();
  }
  active_.clear();
}

void Core::end() {
  ended_ = true;
  if (watch_ && (!active_.empty() || delivery_.requested_bytes()))
    warn(place_, Call::end, "communication since the last %s does not take place", name(Call::sync).c_str());
  clear_outboxes();
  queue_.drop();
  incoming_.clear();
  agreement_ = {};
  agreement_.ending = 1;
  if (const Disagreement found = transport_->exchange(agreement_, outboxes_, {}, incoming_)) report(found);
  transport_->finish();
}

// ---- Registrations ----

std::uint32_t Core::push(const void* memory, std::size_t bytes) {
  check_size(Call::push_reg, "size", bytes);
  if (!memory && bytes > 0)
    fail(Call::push_reg, "NULL with a size of %zu bytes (expected 0 bytes, or an address)", bytes);
  ++agreement_.pushes;
  return registry_.push(memory, bytes);
}

void Core::pop(const void* memory) {
  std::uint32_t number = Registry::no_registration;
  if (memory) {
    number = registry_.newest(memory);
    if (number == Registry::no_registration)
      fail(Call::pop_reg,
           "%p is not registered (expected an address that %s has registered and that was not "
           "removed yet)",
           memory, name(Call::push_reg).c_str());
  }
  ++agreement_.pops;
  registry_.pop(number);
}

void Core::pop(std::uint32_t number) {
  if (!registry_.removable(number) || !(registry_.is_in_force(number) || registry_.is_pushed_now(number)))
    fail(Call::pop_reg, "registration %u is not in force (expected one that was not removed yet)", number);
  ++agreement_.pops;
  registry_.pop(number);
}

void Core::gather(const void* own, std::size_t bytes, void* all) const {
  const auto count = static_cast<int>(bytes);
  if (!wait_policy_.oversubscribed()) {
    MPI_Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, comm_.handle);
    return;
  }
  MPI_Request request;
  MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, comm_.handle, &request);
  wait_policy_.finish(request);
}

void Core::update_registrations() {
  const std::vector<Memory> own = registry_.pushed();
  std::vector<Memory> pushed(own.size() * static_cast<std::size_t>(comm_.size));
  if (!own.empty()) gather(own.data(), own.size() * sizeof(Memory), pushed.data());
  registry_.apply(pushed, registry_.pops().empty() ? std::vector<std::uint32_t>{} : removed(pushed));
  agreement_.pushes = agreement_.pops = 0;
}

// The numbers that the processes have removed, after a check that they agree. NULL represents the number
// named by the other processes.
std::vector<std::uint32_t> Core::removed(const std::vector<Memory>& pushed) const {
  const std::vector<std::uint32_t>& own = registry_.pops();
  const std::size_t count = own.size();
  std::vector<std::uint32_t> all(count * static_cast<std::size_t>(comm_.size)),
      numbers(count, Registry::no_registration);
  gather(own.data(), count * sizeof own[0], all.data());
  for (std::size_t k = 0; k < count; ++k) {
    int first = 0;
    for (int pid = 0; pid < comm_.size; ++pid) {
      const std::uint32_t number = all[static_cast<std::size_t>(pid) * count + k];
      if (number == Registry::no_registration) continue;
      if (numbers[k] != Registry::no_registration && numbers[k] != number)
        fail(Call::sync,
             "call %zu of %s in this superstep removes different registrations on processes %d and "
             "%d (expected the same registrations in the same order on all processes)",
             k + 1, name(Call::pop_reg).c_str(), first, pid);
      if (numbers[k] == Registry::no_registration) first = pid;
      numbers[k] = number;
    }
  }
  for (std::uint32_t& number : numbers) {
    if (number == Registry::no_registration) number = registry_.first_null(pushed, numbers);
    if (number == Registry::no_registration || std::count(numbers.begin(), numbers.end(), number) > 1)
      fail(Call::sync, "%s(NULL) on all processes (expected a registration that is NULL on all of them)",
           name(Call::pop_reg).c_str());
  }
  return numbers;
}

// ---- Communication ----

void Core::grow(Outbox& out, int pid, Kind kind, std::size_t bytes) {
  if (!out.active) {
    out.active = true;
    active_.push_back(pid);
  }
  if (kind == puts) out.run_end = 0;
  Stream& stream = out.streams[kind];
  if (pid == comm_.rank)
    stream.grow_heap(bytes);
  else
    transport_->grow(pid, kind, stream, bytes);
}

template <class Record>
void Core::append_record(int pid, Kind kind, const Record& record) {
  Outbox& out = outboxes_[static_cast<std::size_t>(pid)];
  Stream& stream = out.streams[kind];
  if (stream.room() < sizeof record) grow(out, pid, kind, sizeof record);
  std::memcpy(stream.at, &record, sizeof record);
  stream.at += sizeof record;
  if (kind == puts) out.run_end = 0;
}

void Core::put_special(Call call, int pid, const void* from, std::uint64_t to, std::size_t bytes) {
  const bool buffered = call == Call::put;
  if (!buffered && pid == comm_.rank) {
    std::memmove(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), from, bytes);
    return;
  }
  if (watch_ && !buffered) watch_->add(call, from, bytes);
  if (bytes < direct_bytes_ || pid == comm_.rank || (buffered && transport_->appends(bytes))) {
    append(pid, from, to, bytes);
    return;
  }
  append_record(pid, puts, PutRecord{to, bytes | separate | (buffered ? in_order : 0)});
  ++outboxes_[static_cast<std::size_t>(pid)].separate_puts;
  if (buffered)
    delivery_.send_copy(pid, from, bytes);
  else
    delivery_.send_separately(pid, from, bytes);
}

void Core::get(Call call, int pid, std::uint32_t number, const void* area, std::size_t offset, void* to,
               std::size_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t from = checked(call, pid, number, area, offset, bytes, to);
  if (is_counting_) count(pid, 0);
  if (call == Call::hpget && pid == comm_.rank && bytes >= direct_bytes_) {
    std::memmove(to, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), bytes);
    return;
  }
  if (watch_ && call == Call::hpget) watch_->add(call, to, bytes);
  const bool is_separate = call == Call::hpget && bytes >= direct_bytes_;
  append_record(pid, requests, GetRecord{from, bytes | (is_separate ? separate : 0)});
  if (is_separate)
    delivery_.expect_separately(pid, to, bytes);
  else
    delivery_.expect(pid, to, bytes);
}

std::size_t Core::set_tag_size(std::size_t bytes) {
  check_size(Call::set_tagsize, "size of tags", bytes);
  ++agreement_.tag_calls;
  return std::exchange(agreement_.tag_bytes, bytes);
}

void Core::send(Call call, int pid, const void* tag, const void* payload, std::size_t payload_bytes) {
  check_pid(call, pid);
  check_size(call, "payload", payload_bytes);
  const std::size_t tag_bytes = tag_bytes_;
  if (!tag && tag_bytes > 0) fail(call, "the tag is NULL (expected %zu bytes)", tag_bytes);
  if (!payload && payload_bytes > 0) fail(call, "the payload is NULL (expected %zu bytes)", payload_bytes);
  if (is_counting_) count(pid, tag_bytes + payload_bytes);
  const std::size_t bytes = sizeof(MessageRecord) + padded(tag_bytes) + padded(payload_bytes);
  Outbox& out = outboxes_[static_cast<std::size_t>(pid)];
  Stream& stream = out.streams[messages];
  if (stream.room() < bytes) grow(out, pid, messages, bytes);
  const MessageRecord record{payload_bytes, tag_bytes};
  std::memcpy(stream.at, &record, sizeof record);
  if (tag_bytes > 0) copy_bytes(stream.at + sizeof record, tag, tag_bytes);
  if (payload_bytes > 0) copy_bytes(stream.at + sizeof record + padded(tag_bytes), payload, payload_bytes);
  stream.at += bytes;
}

// ---- The record ----

void Core::record(bool on) {
  is_recording_ = on;
  is_counting_ = on || separate_;
  if (!on) return;
  supersteps_.clear();
  supersteps_.reserve(256);
  current_ = {};
  resumed_ = now();
}

void Core::count(int pid, std::size_t bytes) {
  if (pid == comm_.rank) return;
  current_.bytes_out += bytes;
  ++current_.operations;
}

void Core::note_traffic() {
  const Delivery::Traffic traffic = delivery_.traffic(incoming_);
  current_.bytes_out += traffic.bytes_out;
  current_.bytes_in += traffic.bytes_in;
  current_.packets_out += traffic.packets_out;
  current_.packets_in += traffic.packets_in;
  for (const int pid : active_)
    if (pid != comm_.rank) ++current_.packets_out;
  arrived_records_ = traffic.arrived_records;
  answered_requests_ = traffic.answered_requests;
}

// Charges the processor of a simulated machine for the calls since the last superstep.
void Core::charge_writing() {
#ifdef HOCKNEY_SMPI
  smpi::spend(smpi::library_costs().write * static_cast<double>(current_.operations));
#endif
}

// Charges for the superstep itself, and for the memory of what arrives.
void Core::charge_exchanging() {
#ifdef HOCKNEY_SMPI
  const smpi::LibraryCosts& costs = smpi::library_costs();
  smpi::spend(costs.superstep + costs.buffer_per_byte * static_cast<double>(current_.bytes_in));
#endif
}

void Core::spend_reading() {
#ifdef HOCKNEY_SMPI
  const smpi::LibraryCosts& costs = smpi::library_costs();
  smpi::spend(costs.read * static_cast<double>(arrived_records_) +
              costs.write * static_cast<double>(answered_requests_));
#endif
}

}  // namespace hockney::bsp::inline v1
