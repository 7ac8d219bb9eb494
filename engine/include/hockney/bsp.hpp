// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__GNUC__) || defined(__clang__)
#define HOCKNEY_BSP_API __attribute__((visibility("default")))
#else
#define HOCKNEY_BSP_API
#endif

// Bulk synchronous parallel programs in C++20, on any MPI communicator:
//
//   hockney::bsp::Process bsp(MPI_COMM_WORLD);
//   hockney::bsp::Array<double> sums(bsp, bsp.nprocs());  // registered memory
//   bsp.sync();                                           // now other processes may access it
//   for (int to = 0; to < bsp.nprocs(); ++to) bsp.put(to, local_sum, sums, bsp.pid());
//   bsp.sync();                                           // now sums has what all processes have put
//
// bsp.h, the interface in C, has the same semantics and documents them: all communication takes place in
// sync(), in this order: gets read, gets write, puts write. Errors, which that header lists, end all
// processes of MPI_COMM_WORLD with a message on stderr.
namespace hockney::bsp {
inline namespace v1 {

class Core;

// What may be copied between processes as bytes.
template <class T>
concept Value = std::is_trivially_copyable_v<T>;

// How data travel. shared: through memory that the processes of a node share; not available for processes on
// several nodes and on simulated machines. messages: by MPI messages.
enum class Path : char { automatic, shared, messages };

// How processes that exchange messages learn what they will receive. alltoall: one MPI_Alltoall. log: along a
// dissemination pattern, in ceil(log2 p) steps with one message each, whose size depends on the number of
// packets only.
enum class Headers : char { automatic, alltoall, log };

// What is set here takes precedence over the environment, and that over a choice by measurement, which takes
// some milliseconds. The same on all processes.
struct Settings {
  Path path = Path::automatic;           // HOCKNEY_BSP_PATH=shared|messages
  Headers headers = Headers::automatic;  // HOCKNEY_BSP_HEADERS=alltoall|log
  // From this size, unbuffered puts and gets move straight between the memories of the program, and puts are
  // received straight into it where no other operation interferes. 0: a default.
  std::size_t direct_bytes = 0;  // HOCKNEY_BSP_DIRECT
  // Shared memory of a process for the communication of one superstep; what exceeds it travels by messages.
  // There is twice as much. 0: a default.
  std::size_t shared_bytes = 0;  // HOCKNEY_BSP_SHARED
  // Additional checks, which cost time: overlapping writes, and memory that changes while an unbuffered
  // operation may use it.
  bool check = false;  // HOCKNEY_BSP_CHECK=1
};

// One superstep on one process, as recorded on request. Its cost in the BSP model is w + g h + L, where w is
// the maximum of work_s over the processes, and h that of max(bytes_out, bytes_in).
struct Superstep {
  double work_s = 0;  // from the end of the previous sync, or the start of recording, to the call of sync
  double sync_s = 0;  // in sync
  double read_s = 0;  // of that, after all packets have arrived: moving data to where the program wants them
  // Payload from and to other processes: of puts, gets, and messages, the latter with tags.
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  // Calls of this process that communicate with others: puts, gets, and messages sent.
  std::uint64_t operations = 0;
  // Combined packets to and from other processes, and data that travel separately because they are large.
  std::uint64_t packets_out = 0;
  std::uint64_t packets_in = 0;
};

class Process;

// Registered memory, a handle: of what put and get address on another process. The number is the position in
// the sequence of registrations, the same on all processes.
class Registration {
 public:
  Registration() = default;
  explicit constexpr Registration(std::uint32_t number) : number_(number) {}
  constexpr std::uint32_t number() const { return number_; }
  friend constexpr bool operator==(Registration, Registration) = default;

 private:
  std::uint32_t number_ = 0xffffffffU;
};

// Elements of the program's memory that are registered as long as this object lives. Collective: all
// processes create and destroy their areas in the same order; lengths may differ. Other processes may access
// the memory from the next superstep on, until the end of the superstep in which the area is destroyed, so
// the memory has to live until the next sync.
template <Value T>
class Area {
 public:
  Area(Process& bsp, std::span<T> memory);
  ~Area();
  Area(Area&& other) noexcept
      : bsp_(std::exchange(other.bsp_, nullptr)),
        memory_(other.memory_),
        registration_(other.registration_) {}
  Area& operator=(Area&& other) = delete;

  std::span<T> span() const { return memory_; }
  T* data() const { return memory_.data(); }
  std::size_t size() const { return memory_.size(); }
  T* begin() const { return memory_.data(); }
  T* end() const { return memory_.data() + memory_.size(); }
  T& operator[](std::size_t at) const { return memory_[at]; }
  Registration registration() const { return registration_; }

 private:
  Process* bsp_;
  std::span<T> memory_;
  Registration registration_;
};

namespace detail {
template <class T>
struct Elements {
  std::vector<T> elements;
};
}  // namespace detail

// An area with its own memory: `size` elements, value-initialised. It is freed when the array is destroyed,
// so no process may access it in the superstep in which that happens.
template <Value T>
class Array : private detail::Elements<T>, public Area<T> {
 public:
  Array(Process& bsp, std::size_t size)
      : detail::Elements<T>{std::vector<T>(size)}, Area<T>(bsp, std::span<T>(this->elements)) {}
};

// A message that was received. Valid until the next sync; aligned for any type.
class Message {
 public:
  Message(std::span<const std::byte> tag, std::span<const std::byte> payload)
      : tag_(tag), payload_(payload) {}

  std::span<const std::byte> tag_bytes() const { return tag_; }
  std::span<const std::byte> payload_bytes() const { return payload_; }
  template <Value T>
  const T& tag() const {
    return *reinterpret_cast<const T*>(tag_.data());
  }
  // The whole elements of the payload.
  template <Value T>
  std::span<const T> payload() const {
    return {reinterpret_cast<const T*>(payload_.data()), payload_.size() / sizeof(T)};
  }

 private:
  std::span<const std::byte> tag_;
  std::span<const std::byte> payload_;
};

// This process of a program, as long as the object lives. Collective over the communicator, of which a
// duplicate is used: no message of the program is touched, and several such objects may exist. It is created
// after MPI_Init and destroyed before MPI_Finalize, and used by one thread. Destroying it is an error while
// another process is in sync().
class HOCKNEY_BSP_API Process {
 public:
  explicit Process(MPI_Comm comm, const Settings& settings = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const { return pid_; }
  int nprocs() const { return nprocs_; }
  // Seconds since the object was created, by the clock of this process (simulated time in a simulator).
  double time() const;
  // Ends the superstep. Collective.
  void sync();
  // Supersteps that have ended, which is the number of the current one.
  std::uint64_t superstep() const;
  [[noreturn]] void abort(const char* text) const;

  // One element, or a range of elements, to position `first` in the area of process `pid`. put copies the
  // values now; hpput may copy them at any time until the end of sync, also large ones without a buffer.
  template <Value T>
  void put(int pid, const std::type_identity_t<T>& value, const Area<T>& to, std::size_t first) {
    put(pid, &value, to.registration(), scaled<T>(first), sizeof(T));
  }
  template <Value T>
  void put(int pid, std::span<const std::type_identity_t<T>> values, const Area<T>& to, std::size_t first) {
    put(pid, values.data(), to.registration(), scaled<T>(first), values.size_bytes());
  }
  template <Value T>
  void hpput(int pid, std::span<const std::type_identity_t<T>> values, const Area<T>& to, std::size_t first) {
    hpput(pid, values.data(), to.registration(), scaled<T>(first), values.size_bytes());
  }
  // Elements from position `first` in the area of process `pid`, into memory that need not be registered.
  template <Value T>
  void get(int pid, const Area<T>& from, std::size_t first, std::type_identity_t<T>& value) {
    get(pid, from.registration(), scaled<T>(first), &value, sizeof(T));
  }
  template <Value T>
  void get(int pid, const Area<T>& from, std::size_t first, std::span<std::type_identity_t<T>> values) {
    get(pid, from.registration(), scaled<T>(first), values.data(), values.size_bytes());
  }
  template <Value T>
  void hpget(int pid, const Area<T>& from, std::size_t first, std::span<std::type_identity_t<T>> values) {
    hpget(pid, from.registration(), scaled<T>(first), values.data(), values.size_bytes());
  }

  // Messages. Tags have the size that tag_size() set before the previous sync, on all processes; initially 0.
  // Returns the size that was set before.
  std::size_t tag_size(std::size_t bytes);
  template <Value Tag>
  void send(int pid, const Tag& tag, std::span<const std::byte> payload) {
    send_bytes(pid, std::as_bytes(std::span<const Tag>(&tag, 1)), payload);
  }
  template <Value Tag, std::ranges::contiguous_range Range>
  void send(int pid, const Tag& tag, const Range& payload) {
    send(pid, tag, std::as_bytes(std::span(payload)));
  }
  // Without a tag.
  template <std::ranges::contiguous_range Range>
  void send(int pid, const Range& payload) {
    send_bytes(pid, {}, std::as_bytes(std::span(payload)));
  }
  // The tag must have the size that is in force.
  void send_bytes(int pid, std::span<const std::byte> tag, std::span<const std::byte> payload);
  // Removes a message from the queue; none if it is empty.
  std::optional<Message> receive();
  // Messages in the queue, and the bytes of their payloads.
  std::size_t messages() const;
  std::size_t message_bytes() const;

  // The same for bytes; `memory` is null, with 0 bytes, on a process without such memory. Offsets and sizes
  // in bytes.
  Registration push_reg(void* memory, std::size_t bytes);
  void pop_reg(Registration registration);
  void put(int pid, const void* from, Registration to, std::size_t offset, std::size_t bytes);
  void hpput(int pid, const void* from, Registration to, std::size_t offset, std::size_t bytes);
  void get(int pid, Registration from, std::size_t offset, void* to, std::size_t bytes);
  void hpget(int pid, Registration from, std::size_t offset, void* to, std::size_t bytes);

  // The record of supersteps: off at first, when it costs nothing. Turning it on starts it again, with the
  // time from now on as work; turning it off keeps what it has. Not collective.
  void record(bool on);
  std::span<const Superstep> supersteps() const;

  // What was chosen: path and direct_bytes are never automatic or 0, nor are headers on the path messages.
  const Settings& settings() const;

  // For the parts of the library.
  Core& core() { return *core_; }

 private:
  template <class T>
  static std::size_t scaled(std::size_t elements) {
    // Too large a product is an error of the call that receives it.
    return elements > SIZE_MAX / sizeof(T) ? SIZE_MAX : elements * sizeof(T);
  }

  std::unique_ptr<Core> core_;
  int pid_ = 0;
  int nprocs_ = 1;
};

template <Value T>
Area<T>::Area(Process& bsp, std::span<T> memory)
    : bsp_(&bsp),
      memory_(memory),
      registration_(bsp.push_reg(memory.empty() ? nullptr : memory.data(), memory.size_bytes())) {}

template <Value T>
Area<T>::~Area() {
  if (bsp_) bsp_->pop_reg(registration_);
}

}  // namespace v1
}  // namespace hockney::bsp
