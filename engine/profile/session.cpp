// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/session.hpp"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "profile/communicators.hpp"
#include "profile/mpi_library.hpp"
#include "profile/requests.hpp"
#include "profile/trace.hpp"

namespace hockney::profile {

const char* folder = nullptr;
bool recording = true, started = false, ended = false;

namespace {

std::uint32_t thread_count = 0;
constexpr std::uint32_t most_threads = 1024;
ThreadState* all_threads[most_threads];

thread_local bool no_state = false;
thread_local bool refused = false;  // there are too many threads

// States of threads that have ended, for later threads.
ThreadState* left_states = nullptr;
bool left_states_taken = false;
pthread_key_t at_exit;

struct LeftStates {
  LeftStates() {
    while (__atomic_test_and_set(&left_states_taken, __ATOMIC_ACQUIRE)) {
    }
  }
  ~LeftStates() { __atomic_clear(&left_states_taken, __ATOMIC_RELEASE); }
  LeftStates(const LeftStates&) = delete;
  LeftStates& operator=(const LeftStates&) = delete;
};

void thread_ends(void* state) {
  auto* const thread = static_cast<ThreadState*>(state);
  if (own_state != thread) return;
  own_state = nullptr;
  no_state = false;
  thread->depth = 0;
  __atomic_store_n(&thread->live->depth, 0, __ATOMIC_RELEASE);
  const LeftStates hold;
  thread->next_left = left_states;
  left_states = thread;
}

void child_after_fork() {
  folder = nullptr;  // the file belongs to the parent
  own_state = nullptr;
  no_state = true;
}

void parent_after_fork() {
  if (header) set_flag(forked);
}

struct Environment {
  Environment() {
    // A copy, as programs may change their environment.
    if (const char* const given = getenv("HOCKNEY_PROFILE_FOLDER"); given && *given) folder = strdup(given);
    if (!folder) return;
    pthread_atfork(nullptr, parent_after_fork, child_after_fork);
    pthread_key_create(&at_exit, thread_ends);
  }
} environment;

ThreadState* new_thread_state(std::uint32_t id) {
  void* const memory = private_memory(sizeof(ThreadState));
  if (!memory) return nullptr;
  auto* const thread = ::new (memory) ThreadState;
  thread->id = id;
  thread->error_number = &errno;
  thread->live = thread->live_pages.add(id);
  if (!thread->live) return nullptr;
  thread->live->id = id;
  thread->live->peer = -1;
  thread->live_pages.finish();
  return thread;
}

// A number of the text of a file, or its hash; 0 if the file cannot be read.
std::uint64_t hash_of_file(const char* path) {
  FILE* const file = fopen(path, "re");
  if (!file) return 0;
  char text[64];
  const std::size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  std::uint64_t hash = 1;
  for (std::size_t k = 0; k < length; ++k) hash = mix(hash, static_cast<unsigned char>(text[k]));
  return hash;
}

std::uint64_t hash_of_link(const char* path) {
  char text[64];
  const ssize_t length = readlink(path, text, sizeof text);
  std::uint64_t hash = 1;
  for (ssize_t k = 0; k < length; ++k) hash = mix(hash, static_cast<unsigned char>(text[k]));
  return hash;
}

int topology(int processor, const char* name) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", processor, name);
  FILE* const file = fopen(path, "re");
  if (!file) return -1;
  int value = -1;
  if (fscanf(file, "%d", &value) != 1) value = -1;
  fclose(file);
  return value;
}

// The package and core that all processors of this process's mask share, or -1.
void find_binding(std::int32_t* package, std::int32_t* core) {
  *package = *core = -1;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  bool first = true;
  int checked = 0;
  for (int k = 0; k < CPU_SETSIZE && checked < 32; ++k) {
    if (!CPU_ISSET(k, &mask)) continue;
    ++checked;
    const int its_package = topology(k, "physical_package_id"), its_core = topology(k, "core_id");
    const int whole = its_package >= 0 && its_core >= 0 ? its_package * 65536 + its_core : -1;
    if (first) {
      *package = its_package;
      *core = whole;
      first = false;
    } else {
      if (*package != its_package) *package = -1;
      if (*core != whole) *core = -1;
    }
  }
  if (checked == 32) *core = -1;
}

int ranks_here = 1;  // that share this rank's cores

// The cores that this rank may use.
int cores_here() {
  cpu_set_t mask;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
  // Threads of a core that a rank is bound to are not counted twice.
  if (header->core >= 0) return 1;
  return allowed > 0 && allowed < online ? allowed : static_cast<int>(online);
}

struct Introduction {
  World::Place place;
  std::uint64_t job, kernel;
};

// The first rank that shares this rank's clock; -1: all ranks do.
int clock_leader = -1;
std::uint64_t* kernels = nullptr;  // of all ranks, if they have several clocks

// Distributes the location of each rank to all ranks.
void meet() {
  Introduction own{};
  own.place.host = header->host;
  own.place.package = header->package;
  own.place.core = header->core;
  own.job = mix(mix(header->host, header->pid), header->first.monotonic_ns);
  own.kernel = header->kernel;
  const auto ranks = static_cast<std::size_t>(world.size);
  auto* const all = static_cast<Introduction*>(private_memory(ranks * sizeof(Introduction)));
  auto* const places = static_cast<World::Place*>(private_memory(ranks * sizeof(World::Place)));
  if (!all || !places) return;
  if (mpi.allgather(&own, sizeof own, mpi.byte, all, sizeof own, mpi.byte, mpi.world) != 0) return;
  for (std::size_t k = 0; k < ranks; ++k) places[k] = all[k].place;
  header->job = all[0].job;
  world.places = places;
  for (std::size_t k = 0; k < ranks; ++k)
    if (all[k].kernel != all[0].kernel) kernels = &all->kernel;
  for (std::size_t k = ranks; kernels && k-- > 0;)
    if (all[k].kernel == header->kernel) clock_leader = static_cast<int>(k);
  // Ranks that are bound to one core share that core, others all cores of their kernel.
  ranks_here = 0;
  for (std::size_t k = 0; k < ranks; ++k)
    if (all[k].kernel == header->kernel && (header->core < 0 || all[k].place.core == header->core))
      ++ranks_here;
}

std::uint64_t kernel_of(int rank) {
  return kernels[static_cast<std::size_t>(rank) * (sizeof(Introduction) / sizeof(std::uint64_t))];
}

// Compares the clock of the first rank on each kernel with that of rank 0 by round-trip messages; the
// shortest ones have the least error. Collective; does nothing if all ranks share a clock.
void compare_clocks(int when) {
  if (!kernels || !mpi.comm_split || !mpi.comm_free || !mpi.send || !mpi.recv) return;
  constexpr int exchanges = 32, tag = 1;
  // No message of the program meets those on another communicator. A duplicate would have its attributes.
  Handle apart = 0;
  if (mpi.comm_split(mpi.world, 0, world.rank, &apart) != 0) return;
  alignas(8) char status[64];
  std::int64_t own[3] = {0, 0, 0};
  for (int other = 1; other < world.size; ++other) {
    int leader = 0;
    while (kernel_of(leader) != kernel_of(other)) ++leader;
    if (leader != other) continue;
    if (world.rank != 0 && world.rank != other) continue;
    std::int64_t least = INT64_MAX;
    for (int k = 0; k < exchanges; ++k) {
      std::uint64_t there = 0;
      if (world.rank == other) {
        const std::uint64_t before = monotonic_ns();
        mpi.send(&before, sizeof before, mpi.byte, 0, tag, apart);
        mpi.recv(&there, sizeof there, mpi.byte, 0, tag, apart, status);
        const std::uint64_t after = monotonic_ns();
        const auto took = static_cast<std::int64_t>(after - before);
        if (took >= least) continue;
        least = took;
        own[0] = static_cast<std::int64_t>(before + (after - before) / 2);
        own[1] = static_cast<std::int64_t>(there) - own[0];
        own[2] = took / 2;
      } else {
        mpi.recv(&there, sizeof there, mpi.byte, other, tag, apart, status);
        there = monotonic_ns();
        mpi.send(&there, sizeof there, mpi.byte, other, tag, apart);
      }
    }
  }
  const auto ranks = static_cast<std::size_t>(world.size);
  if (auto* const all = static_cast<std::int64_t*>(private_memory(ranks * sizeof own)))
    if (mpi.allgather(own, sizeof own, mpi.byte, all, sizeof own, mpi.byte, apart) == 0) {
      const std::int64_t* const its = all + 3 * static_cast<std::size_t>(clock_leader);
      header->remote[when] = {static_cast<std::uint64_t>(its[0]), its[1], its[2]};
    }
  mpi.comm_free(&apart);
}

int rank_of_environment(int* size) {
  *size = 0;
  static const char* const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
  static const char* const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"};
  for (const char* const name : sizes)
    if (const char* const text = getenv(name)) *size = atoi(text);
  for (const char* const name : ranks)
    if (const char* const text = getenv(name)) return atoi(text);
  return 0;
}

// The median of the added time. Batches with and without recording alternate.
constexpr int batches = 25, batch_calls = 100;

double median(double* values, int count) {
  for (int i = 1; i < count; ++i)
    for (int k = i; k > 0 && values[k] < values[k - 1]; --k) {
      const double larger = values[k - 1];
      values[k - 1] = values[k];
      values[k] = larger;
    }
  return values[count / 2];
}

template <class Bare, class Recorded>
void measure(const char* kind, int calls, double ns_per_tick, Bare&& bare, Recorded&& recorded) {
  double bare_ns[batches], recorded_ns[batches];
  for (int batch = -3; batch < batches; ++batch) {
    const std::uint64_t start = ticks();
    for (int k = 0; k < batch_calls; ++k) bare();
    const std::uint64_t middle = ticks();
    for (int k = 0; k < batch_calls; ++k) recorded();
    const std::uint64_t stop = ticks();
    if (batch < 0) continue;
    bare_ns[batch] = static_cast<double>(middle - start) * ns_per_tick / (batch_calls * calls);
    recorded_ns[batch] = static_cast<double>(stop - middle) * ns_per_tick / (batch_calls * calls);
  }
  auto& overhead = header->overhead[header->overheads];
  snprintf(overhead.kind, sizeof overhead.kind, "%s", kind);
  const double without = median(bare_ns, batches), with = median(recorded_ns, batches);
  overhead.bare_ns = static_cast<float>(without);
  overhead.added_ns = static_cast<float>(with - without);
  ++header->overheads;
}

// The wrapper of a function in C, if the MPI library has it. While this exists, the wrapper calls `bare`:
// other tools between the program and MPI must not count what is only measured here.
template <class T>
class Wrapper {
 public:
  Wrapper(const char* name, T* bare) {
    for (std::uint32_t k = 0; bare && !call_ && k < symbol_count; ++k) {
      if (strcmp(symbols[k].name, name) != 0) continue;
      call_ = reinterpret_cast<T*>(symbols[k].own);
      calls_ = &real[k];
      before_ = *calls_;
      *calls_ = reinterpret_cast<void*>(bare);
    }
  }
  ~Wrapper() {
    if (calls_) *calls_ = before_;
  }
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  T* get() const { return call_; }

 private:
  T* call_ = nullptr;
  void** calls_ = nullptr;
  void* before_ = nullptr;
};

void measure_overhead(ThreadState& thread) {
  const std::uint64_t ns = header->last.monotonic_ns - header->first.monotonic_ns;
  const std::uint64_t passed = header->last.ticks - header->first.ticks;
  if (!passed) return;
  const double ns_per_tick = static_cast<double>(ns) / static_cast<double>(passed);
  // In a state of its own, whose pages are not part of the file.
  keep_pages(false);
  set_trace_aside(true);
  const Header before = *header;
  ThreadState* const scratch = new_thread_state(0);
  if (scratch) {
    own_state = scratch;
    int value = 0;
    volatile double time = 0;
    Handle request = 0;
    const Wrapper wtime("MPI_Wtime", mpi.wtime);
    const Wrapper comm_rank("MPI_Comm_rank", mpi.comm_rank);
    const Wrapper send("MPI_Send", mpi.send);
    const Wrapper isend("MPI_Isend", mpi.isend);
    const Wrapper wait("MPI_Wait", mpi.wait);
    if (wtime.get())
      measure("clock", 1, ns_per_tick, [&] { time = mpi.wtime(); }, [&] { time = wtime.get()(); });
    if (comm_rank.get())
      measure(
          "local", 1, ns_per_tick, [&] { mpi.comm_rank(mpi.world, &value); },
          [&] { comm_rank.get()(mpi.world, &value); });
    if (send.get())
      measure(
          "blocking", 1, ns_per_tick, [&] { mpi.send(&value, 1, mpi.byte, mpi.proc_null, 0, mpi.world); },
          [&] { send.get()(&value, 1, mpi.byte, mpi.proc_null, 0, mpi.world); });
    if (isend.get() && wait.get()) {
      void* const ignore = reinterpret_cast<void*>(mpi.status_ignore);
      measure(
          "nonblocking", 2, ns_per_tick,
          [&] {
            mpi.isend(&value, 1, mpi.byte, mpi.proc_null, 0, mpi.world, &request);
            mpi.wait(&request, ignore);
          },
          [&] {
            isend.get()(&value, 1, mpi.byte, mpi.proc_null, 0, mpi.world, &request);
            wait.get()(&request, ignore);
          });
    }
    own_state = &thread;
  }
  header->failed = before.failed;
  header->lost = before.lost;
  header->unknown_requests = before.unknown_requests;
  set_trace_aside(false);
  keep_pages(true);
}

}  // namespace

thread_local ThreadState* own_state = nullptr;

[[gnu::cold, gnu::noinline]] ThreadState* made_thread() {
  if (no_state) {
    if (refused && recording) __atomic_add_fetch(&header->lost, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  no_state = true;  // while it is made, and if it cannot be made
  if (!folder || !reserve_rank_file()) return nullptr;
  if (thread_count == 0) prepare_call_sites();
  ThreadState* left = nullptr;
  {
    const LeftStates hold;
    left = left_states;
    if (left) left_states = left->next_left;
  }
  if (left) {
    left->error_number = &errno;
    own_state = left;
    pthread_setspecific(at_exit, left);
    no_state = false;
    return left;
  }
  const std::uint32_t id = __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
  if (id >= most_threads) {
    __atomic_store_n(&thread_count, most_threads, __ATOMIC_RELAXED);
    refused = true;
    return made_thread();
  }
  if (id > 0) several_threads = true;
  ThreadState* const thread = new_thread_state(id);
  if (!thread) return nullptr;
  header->threads = thread_count;
  all_threads[id] = own_state = thread;
  if (id > 0) pthread_setspecific(at_exit, thread);
  no_state = false;
  return thread;
}

namespace {

int open_sessions = 0;
bool in_world = false;

// The values that all ranks of MPI_COMM_WORLD exchange.
void enter_world(ThreadState& thread) {
  in_world = true;
  int level = 0;
  Handle parent = 0;
  if (mpi.query_thread(&level) == 0) header->thread_level = static_cast<std::uint32_t>(level);
  mpi.comm_rank(mpi.world, &world.rank);
  mpi.comm_size(mpi.world, &world.size);
  mpi.comm_group(mpi.world, &world.group);
  if (mpi.comm_get_parent && mpi.comm_get_parent(&parent) == 0 && mpi.mask(parent) != mpi.communicator_null)
    set_flag(spawned);
  meet();
  compare_clocks(0);
  communicator_state(thread, mpi.world);
}

void sum_up(std::uint64_t* calls, std::uint64_t* in_mpi) {
  *calls = *in_mpi = 0;
  for (std::uint32_t k = 0; k < thread_count && k < most_threads; ++k)
    if (all_threads[k]) {
      *calls += all_threads[k]->live->calls;
      *in_mpi += all_threads[k]->in_mpi;
    }
}

}  // namespace

[[gnu::cold, gnu::noinline]] void begin(ThreadState& thread, const Call& call) {
  int initialized = 0;
  const bool has_world = mpi.initialized && mpi.initialized(&initialized) == 0 && initialized;
  if (call.function().kind == Class::session) {
    ++open_sessions;
    if (started && !in_world) header->state = State::running;
  }
  if (started) {
    // MPI_Init after a session; the peers that are known by now are those that the launcher told of.
    if (has_world && !in_world && !ended) {
      __atomic_fetch_and(&header->flags, ~static_cast<std::uint32_t>(sessions), __ATOMIC_RELAXED);
      header->state = State::running;
      const int ranks = world.size;
      enter_world(thread);
      header->rank = world.rank;
      header->size = world.size;
      for (std::uint32_t k = 0; k < thread_count && k < most_threads; ++k) {
        ThreadState* const each = all_threads[k];
        for (int rank = 0; each && each->peers && rank < ranks && rank < world.size; ++rank)
          if (each->peers[rank]) each->peers[rank]->distance = world.distance(rank);
        if (each && ranks != world.size) each->peers = nullptr;
      }
      __atomic_add_fetch(&communicator_epoch, 1, __ATOMIC_RELEASE);
    }
    return;
  }
  header->init_enter = call.start;
  find_binding(&header->package, &header->core);
  header->host = hash_of_file("/proc/sys/kernel/random/boot_id");
  // A container may have another CLOCK_MONOTONIC than its host.
  header->kernel = mix(header->host, hash_of_link("/proc/self/ns/time"));
  for (const char* letter = header->hostname; *letter; ++letter)
    header->host = mix(header->host, static_cast<unsigned char>(*letter));
  header->mpi = static_cast<std::uint32_t>(mpi.abi);
  if (mpi.several) set_flag(two_libraries);
  if (is_covered()) set_flag(covered);
  if (has_world) {
    enter_world(thread);
  } else {
    set_flag(sessions);
    world.rank = rank_of_environment(&world.size);
  }
  header->rank = world.rank;
  header->size = world.size;
  started = true;
  open_rank_file(folder, world.rank);
  open_trace(folder, call.start, ranks_here > cores_here());
  update_clock();
  header->init_exit = ticks();
}

[[gnu::cold, gnu::noinline]] void before_session_ends() {
  if (open_sessions == 1 && !in_world && world.group) mpi.group_free(&world.group);
  if (open_sessions == 1 && !in_world) world.group = 0;
}

[[gnu::cold, gnu::noinline]] void end_session() {
  if (--open_sessions > 0 || in_world || !started) return;
  header->finalize_enter = ticks();
  sum_up(&header->calls, &header->in_mpi);
  update_clock();
  header->state = State::finalized;
}

[[gnu::cold, gnu::noinline]] void end(ThreadState& thread) {
  if (!started || ended) return;
  header->finalize_enter = ticks();
  ended = true;
  update_clock();
  sum_up(&header->calls, &header->in_mpi);
  const bool was = recording;
  header->calls += was;  // with MPI_Finalize
  recording = true;
  ended = false;  // so that arguments are decoded
  measure_overhead(thread);
  compare_clocks(1);
  recording = was;
  ended = true;
}

[[gnu::cold, gnu::noinline]] void finish() {
  update_clock();
  header->state = State::finalized;
  close_rank_file();
  folder = nullptr;  // what is called from now on is not part of the profile
}

}  // namespace hockney::profile
