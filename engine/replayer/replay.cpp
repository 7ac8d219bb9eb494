// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/compute.hpp"
#include "base/random.hpp"
#include "base/waits.hpp"
#include "comm/sum_op.hpp"
#include "measure/agreement.hpp"
#include "measure/buffer.hpp"
#include "measure/parameters.hpp"
#include "measure/program_phases.hpp"
#include "measure/workload.hpp"
#include "replayer/steps.hpp"

namespace hockney::replayer {
namespace {

constexpr int first_tag = 100;  // smaller tags are the engine's own
// The collectives by their numbers in steps; the order is that of COLLECTIVES in hockney/replay/replayer.py.
enum Operation {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  gatherv,
  scatterv,
  allgatherv,
  alltoallv,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  operation_count
};

// The operation on equal blocks that moves as many bytes as a vector operation with equal blocks.
constexpr int regular_operation(int operation) {
  switch (operation) {
    case gatherv: return gather;
    case scatterv: return scatter;
    case allgatherv: return allgather;
    case alltoallv: return alltoall;
    case reduce_scatter: return reduce_scatter_block;
    default: return operation;
  }
}

// Arguments of a vector operation.
struct Blocks {
  std::vector<int> counts, displacements;
};

// Computation of any duration. Short computation is a loop without clock readings, which would take too long.
class Work {
 public:
  void run(double seconds) {
    if (waits_asleep())
      sleep(seconds);
    else
      (seconds < long_s ? short_ : long_).run(seconds / (seconds < long_s ? short_preset_s : long_preset_s));
  }

  void recheck() {
    short_.recheck();
    long_.recheck();
  }

 private:
  static constexpr double short_preset_s = 1e-6, long_preset_s = 1e-3, long_s = 10e-6;

  // A sleep ends late; subsequent sleeps compensate for the delay.
  void sleep(double seconds) {
    const double start = now(), end = start + seconds - accumulated_delay_s_;
    wait_until(end);
    accumulated_delay_s_ = now() - end;
  }

  Computing short_{short_preset_s}, long_{long_preset_s};
  double accumulated_delay_s_ = 0;
};

// Converts bytes to count and datatype; sizes that exceed an int need a special type.
class Counts {
 public:
  struct Counted {
    int count;
    MPI_Datatype type;
  };

  void add(std::uint64_t bytes) {
    if (bytes > INT_MAX) large_.try_emplace(bytes, bytes);
  }

  Counted of(std::uint64_t bytes) const {
    if (bytes <= INT_MAX) return {static_cast<int>(bytes), MPI_BYTE};
    const Block& block = large_.at(bytes);
    return {block.count, block.type};
  }

 private:
  std::map<std::uint64_t, Block> large_;
};

// Buffers with requests, each of which is used by one message or collective after another. Concurrent ones
// have different slots, as in a program; the order of steps determines which. Sent data are never overwritten
// by received data, so they stay in cache.
class Slots {
 public:
  explicit Slots(Arena& arena) : arena_(arena) {}

  std::uint32_t take(std::uint64_t bytes, std::uint8_t use) {
    std::size_t size = min_block_bytes;
    while (size < bytes) size *= 2;
    std::vector<std::uint32_t>& idle_slots = idle_slots_[{size, use}];
    if (idle_slots.empty()) {
      uses_.push_back({size, use});
      Buffer& buffer = buffers_.emplace_back(arena_, size, "hot");
      data_.push_back(buffer.next());
      return static_cast<std::uint32_t>(data_.size() - 1);
    }
    const std::uint32_t slot = idle_slots.back();
    idle_slots.pop_back();
    return slot;
  }
  void give_back(std::uint32_t slot) { idle_slots_[uses_[slot]].push_back(slot); }

  std::byte* data(std::uint32_t slot) { return data_[slot]; }
  std::size_t size() const { return data_.size(); }

 private:
  static constexpr std::size_t min_block_bytes = 64;

  Arena& arena_;
  std::deque<Buffer> buffers_;
  std::vector<std::byte*> data_;
  using Use = std::pair<std::size_t, std::uint8_t>;  // bytes, and the kind of steps
  std::vector<Use> uses_;
  std::map<Use, std::vector<std::uint32_t>> idle_slots_;
};

// A traced program with the calls that it made: each rank computes for the traced time, and starts and
// completes the same messages and collectives in the same order, without the program's data.
class Replay final : public Workload {
 public:
  Replay(const Place& place, const Values& values) : comm_(place.comm), slots_(place.arena) {
    Steps program = read_steps(steps_file(place, values), comm_, operation_count);
    tail_s_ = program.tail_s;
    seconds_.assign(program.places + 1, 0);
    total_s_.assign(program.places, 0);
    collective_.assign(program.places, false);
    steps_ = std::move(program.steps);
    for (const auto& members : program.communicators) sizes_.push_back(members.size());
    run_on_all_ranks(comm_, [&] { plan(); });
    connect(program);
    requests_.assign(slots_.size(), MPI_REQUEST_NULL);
    expected_.assign(slots_.size(), 0);
    bytes_.assign(slots_.size(), 0);
    deduct_clock_readings();
  }

  ~Replay() override {
    for (MPI_Win& window : windows_) {
      if (window == MPI_WIN_NULL) continue;
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    }
  }

  void prepare(int) override { work_.recheck(); }
  void repetitions_follow(long) override {
    counts_ = true;
    discard_unfinished();
  }

  void run() override {
    start_s_ = interval_start_s_ = now();
    current_ = computation();
    for (std::size_t i = 0; i < steps_.size(); i += additional_slots(steps_[i])) {
      const Step& step = steps_[i];
      if (step.seconds > 0) {
        enter(computation());
        work_.run(step.seconds);
      }
      if (step.kind == compute_only) continue;
      enter(step.place);
      take(&step);
    }
    if (tail_s_ > 0) {
      enter(computation());
      work_.run(tail_s_);
    }
    complete_remaining();
    spend();
    rank_s_ = interval_start_s_ - start_s_;
    ++runs_;
    checking_ = false;
  }

  // Makes the next run mark and check each message.
  void fill(const Payload& payload) override {
    seed_ = payload.seed;
    checking_ = true;
    check_ = {};
    numbers_.clear();
  }

  Check verify(const Payload&) override { return check_; }

  std::optional<double> computing_s() const override {
    double seconds = tail_s_;
    for (const Step& step : steps_) seconds += step.seconds;
    return seconds;
  }

  void sample(MetricValues& values) override {
    double messages = 0, collectives = 0;
    for (std::size_t place = 0; place < total_s_.size(); ++place) {
      (collective_[place] ? collectives : messages) += seconds_[place];
      if (counts_) total_s_[place] += seconds_[place];
    }
    if (counts_) counted_runs_ += runs_;
    values.set("computation", seconds_.back());
    values.set("messages", messages);
    values.set("collectives", collectives);
    values.set("rank", rank_s_);
    discard_unfinished();
  }

  void report(MetricValues& values) override {
    std::vector<double> mean = total_s_;
    for (double& seconds : mean) seconds /= static_cast<double>(std::max(1L, counted_runs_));
    values.set_each("place", mean);
  }

 private:
  // MPI calls for the steps. An exchange consists of two, its send and its receive; a wait for several
  // requests has one for each.
  enum Call : std::uint8_t {
    compute_only,
    send_now,
    receive_now,
    exchange,
    start_send,
    start_receive,
    buffered_send,
    start_put,
    start_get,
    wait,
    collective_now,
    start_collective
  };

  // Path of the file next to the plan. Throws InvalidCase.
  static std::string steps_file(const Place& place, const Values& values) {
    const std::string& text = values.word("graph");
    const std::string file = text.substr(text.find(':') + 1);
    if (text == "none" || file.find('/') != std::string::npos)
      throw InvalidCase("graph=" + text + " names no program of this plan");
    return place.files + "/" + file + ".steps";
  }

  // Creates the communicators and their windows, in the same order on all ranks. Collective.
  void connect(const Steps& program) {
    MPI_Group all;
    MPI_Comm_group(comm_.handle, &all);
    for (const auto& members : program.communicators) {
      Comm& own = communicators_.emplace_back();
      MPI_Win& window = windows_.emplace_back(MPI_WIN_NULL);
      if (std::find(members.begin(), members.end(), static_cast<std::uint32_t>(comm_.rank)) == members.end())
        continue;
      const std::vector<int> ranks(members.begin(), members.end());
      MPI_Group group;
      MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group);
      MPI_Comm handle = MPI_COMM_NULL;
      MPI_Comm_create_group(comm_.handle, group, first_tag, &handle);
      MPI_Group_free(&group);
      own = Comm::owner(handle);
      const std::uint64_t bytes = program.windows[windows_.size() - 1];
      if (bytes == 0) continue;
      void* memory = nullptr;
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, handle, &memory, &window);
      MPI_Win_lock_all(0, window);
    }
    MPI_Group_free(&all);
  }

  // Converts steps into calls, each with its slot in `start`. Throws InvalidCase and OutOfMemory.
  void plan() {
    int* upper = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm_.handle, MPI_TAG_UB, &upper, &known);
    if (known) max_tag_ = *upper;
    std::vector<std::uint32_t> slot_of(steps_.size(), none);
    std::unordered_map<std::uint32_t, Step> one_sided;  // by number
    std::size_t to = 0;
    for (std::size_t i = 0; i < steps_.size();) {
      Step step = steps_[i];
      const std::size_t first = to;
      if (step.is_start()) prepare_start(step);
      const auto emit = [&](Call call, std::uint32_t slot, const Step& from) {
        steps_[to] = from;
        steps_[to].kind = call;
        steps_[to++].start = slot;
      };
      if (step.kind == compute) {
        emit(compute_only, none, step);
        ++i;
      } else if (step.is_end()) {
        std::size_t end = i;
        std::vector<std::uint32_t> free;
        do {
          const Step& each = steps_[end];
          const std::uint32_t slot = slot_of[each.start];
          if (slot == none) continue;
          Step part = each;
          part.seconds = end == i ? each.seconds : 0;
          part.flags &= static_cast<std::uint8_t>(~completes_at_target);
          const auto operation = one_sided.find(each.start);
          if (operation != one_sided.end() && each.kind == received) {
            part.flags |= completes_at_target;
            part.peer = operation->second.peer;
            part.channel = operation->second.channel;
          }
          if (operation == one_sided.end() || each.kind == received) free.push_back(slot);
          emit(wait, slot, part);
        } while (++end < steps_.size() && steps_[end].is_end() && is_joined_to_previous(end));
        if (to == first)
          emit(compute_only, none, step);
        else
          steps_[first].seconds = step.seconds;
        for (std::size_t k = first; k < to; ++k) steps_[k].bytes = to - k;
        // Reversed, so that in a loop each message gets the same slot again.
        std::for_each(free.rbegin(), free.rend(), [&](std::uint32_t slot) { slots_.give_back(slot); });
        i = end;
      } else if (step.kind == send && step.is(buffered)) {
        emit(buffered_send, none, step);
        ++i;
      } else {
        const std::uint32_t slot = slots_.take(buffer_bytes(step), step.kind);
        if (step.is(blocking) && is_end_of(i + 1, i)) {
          emit(step.kind == send      ? send_now
               : step.kind == receive ? receive_now
                                      : collective_now,
               slot, step);
          slots_.give_back(slot);
          i += 2;
        } else if (is_exchange(i)) {
          Step other = steps_[i + 1];
          prepare_start(other);
          const std::uint32_t incoming = slots_.take(buffer_bytes(other), other.kind);
          emit(exchange, slot, step);
          emit(exchange, incoming, other);
          slots_.give_back(slot);
          slots_.give_back(incoming);
          i += 4;
        } else {
          slot_of[i] = slot;
          if (step.is_one_sided()) one_sided.emplace(static_cast<std::uint32_t>(i), step);
          emit(started(step), slot, step);
          ++i;
        }
      }
    }
    steps_.resize(to);
    steps_.shrink_to_fit();
  }

  void prepare_start(Step& step) {
    collective_[step.place] = step.kind == enter_step;
    if (step.is_one_sided()) {
      if (step.bytes > INT_MAX) throw InvalidCase("a one-sided operation of a replay has more than 2 GiB");
    } else if (step.kind != enter_step) {
      if (step.tag >= 0 && step.tag > max_tag_ - first_tag)
        throw InvalidCase("this MPI has too few tags for this program");
      step.tag = step.tag < 0 ? MPI_ANY_TAG : step.tag + first_tag;
      if (step.peer < 0) step.peer = MPI_ANY_SOURCE;
    } else if (is_reduction(step.tag)) {
      const std::uint64_t elements = (step.bytes + sizeof(double) - 1) / sizeof(double);
      if (elements > INT_MAX) throw InvalidCase("a reduction of a replay has more doubles than an MPI count");
      step.bytes = elements * sizeof(double);
    }
    // Displacements are as long as counts.
    if (step.kind == enter_step && step.bytes * sizes_[step.channel] > INT_MAX)
      step.tag = regular_operation(step.tag);
    counted_.add(step.bytes);
  }

  static Call started(const Step& step) {
    switch (step.kind) {
      case send: return start_send;
      case receive: return start_receive;
      case put: return start_put;
      case get: return start_get;
      default: return start_collective;
    }
  }

  // Whether the step is part of the same call as the previous step.
  bool is_joined_to_previous(std::size_t index) const {
    return index < steps_.size() && steps_[index].is(together) && !(steps_[index].seconds > 0);
  }
  bool is_end_of(std::size_t index, std::size_t start) const {
    return is_joined_to_previous(index) && steps_[index].is_end() && steps_[index].start == start;
  }
  // Whether the steps form an MPI_Sendrecv: both starts, then both ends in either order.
  bool is_exchange(std::size_t i) const {
    return steps_[i].kind == send && steps_[i].is(blocking) && is_joined_to_previous(i + 1) &&
           steps_[i + 1].kind == receive &&
           ((is_end_of(i + 2, i) && is_end_of(i + 3, i + 1)) ||
            (is_end_of(i + 2, i + 1) && is_end_of(i + 3, i)));
  }

  static bool is_reduction(int operation) { return operation >= reduce; }

  // Bytes of buffer memory: for a collective those sent, then those received.
  std::uint64_t buffer_bytes(const Step& step) const {
    if (step.kind != enter_step) return step.bytes;
    return outgoing(step) + incoming(step);
  }
  std::uint64_t outgoing(const Step& step) const {
    const std::uint64_t all = sizes_[step.channel];
    const int operation = regular_operation(step.tag);
    const bool each = operation == scatter || operation == alltoall || operation == reduce_scatter_block;
    return step.tag == barrier ? 0 : each ? all * step.bytes : step.bytes;
  }
  std::uint64_t incoming(const Step& step) const {
    const std::uint64_t all = sizes_[step.channel];
    const int operation = regular_operation(step.tag);
    const bool each = operation == gather || operation == allgather || operation == alltoall;
    return step.tag == barrier ? 0 : each ? all * step.bytes : step.bytes;
  }

  // Shortens the next computation by the time of the clock readings.
  void deduct_clock_readings() {
    reading_s_ = measure_clock().overhead_s;
    std::uint32_t current = computation();
    int readings = 0;
    const auto enters = [&](std::uint32_t place) { readings += std::exchange(current, place) != place; };
    for (Step& step : steps_) {
      if (step.seconds > 0) {
        enters(computation());
        step.seconds = std::max(0.0F, step.seconds - static_cast<float>(readings * reading_s_));
        readings = 0;
      }
      if (step.kind != compute_only) enters(step.place);
    }
  }

  static std::size_t additional_slots(const Step& step) {
    return step.kind == exchange ? 2 : step.kind == wait ? static_cast<std::size_t>(step.bytes) : 1;
  }

  void take(const Step* step) {
    switch (step->kind) {
      case send_now: send_one(*step, nullptr); break;
      case start_send: send_one(*step, &requests_[step->start]); break;
      case buffered_send: send_copy(*step); break;
      case receive_now: {
        const auto [count, type] = counted_.of(step->bytes);
        expect(*step);
        MPI_Recv(slots_.data(step->start), count, type, step->peer, step->tag, handle(*step),
                 MPI_STATUS_IGNORE);
        check_arrival(*step);
        break;
      }
      case start_receive: {
        const auto [count, type] = counted_.of(step->bytes);
        expect(*step);
        MPI_Irecv(slots_.data(step->start), count, type, step->peer, step->tag, handle(*step),
                  &requests_[step->start]);
        break;
      }
      case start_put:
      case start_get: access(*step); break;
      case exchange: run_exchange(step[0], step[1]); break;
      case wait: wait_for(step); break;
      case collective_now: call(*step, nullptr); break;
      case start_collective: call(*step, &requests_[step->start]); break;
      default: break;
    }
  }

  void send_one(const Step& step, MPI_Request* request) {
    const auto [count, type] = counted_.of(step.bytes);
    std::byte* const data = slots_.data(step.start);
    mark(step, data);
    const MPI_Comm comm = handle(step);
    if (step.is(synchronous))
      request ? MPI_Issend(data, count, type, step.peer, step.tag, comm, request)
              : MPI_Ssend(data, count, type, step.peer, step.tag, comm);
    else
      request ? MPI_Isend(data, count, type, step.peer, step.tag, comm, request)
              : MPI_Send(data, count, type, step.peer, step.tag, comm);
  }

  void run_exchange(const Step& out, const Step& in) {
    const auto sent = counted_.of(out.bytes), received = counted_.of(in.bytes);
    mark(out, slots_.data(out.start));
    expect(in);
    if (out.channel == in.channel) {
      MPI_Sendrecv(slots_.data(out.start), sent.count, sent.type, out.peer, out.tag, slots_.data(in.start),
                   received.count, received.type, in.peer, in.tag, handle(in), MPI_STATUS_IGNORE);
    } else {
      MPI_Request request;
      MPI_Isend(slots_.data(out.start), sent.count, sent.type, out.peer, out.tag, handle(out), &request);
      MPI_Recv(slots_.data(in.start), received.count, received.type, in.peer, in.tag, handle(in),
               MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check_arrival(in);
  }

  void access(const Step& step) {
    const auto [count, type] = counted_.of(step.bytes);
    std::byte* const data = slots_.data(step.start);
    const MPI_Win window = windows_[step.channel];
    MPI_Request* const request = &requests_[step.start];
    if (step.kind == start_put)
      MPI_Rput(data, count, type, step.peer, 0, count, type, window, request);
    else
      MPI_Rget(data, count, type, step.peer, 0, count, type, window, request);
  }

  // As MPI_Bsend does, but with memory that grows as needed.
  void send_copy(const Step& step) {
    const auto [count, type] = counted_.of(step.bytes);
    int idle_slots = 0;
    if (!copies_.empty() && copies_.front().bytes >= step.bytes)
      MPI_Test(&copies_.front().request, &idle_slots, MPI_STATUS_IGNORE);
    if (idle_slots) {
      copies_.push_back(std::move(copies_.front()));
      copies_.pop_front();
    } else {
      copies_.push_back({std::make_unique<std::byte[]>(step.bytes), step.bytes});
    }
    Copy& copy = copies_.back();
    std::memset(copy.data.get(), 0, step.bytes);
    mark(step, copy.data.get());
    MPI_Isend(copy.data.get(), count, type, step.peer, step.tag, handle(step), &copy.request);
  }

  void wait_for(const Step* step) {
    const auto count = static_cast<std::size_t>(step->bytes);
    if (count == 1) {
      MPI_Wait(&requests_[step->start], MPI_STATUS_IGNORE);
    } else {
      waiting_requests_.clear();
      for (std::size_t k = 0; k < count; ++k) waiting_requests_.push_back(requests_[step[k].start]);
      MPI_Waitall(static_cast<int>(count), waiting_requests_.data(), MPI_STATUSES_IGNORE);
      for (std::size_t k = 0; k < count; ++k) requests_[step[k].start] = MPI_REQUEST_NULL;
    }
    for (std::size_t k = 0; k < count; ++k)
      if (step[k].flags & completes_at_target) MPI_Win_flush(step[k].peer, windows_[step[k].channel]);
    if (!checking_) return;
    for (std::size_t k = 0; k < count; ++k) check_arrival(step[k].start);
  }

  // Completes requests that the program never completed.
  void complete_remaining() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (Copy& copy : copies_) MPI_Wait(&copy.request, MPI_STATUS_IGNORE);
  }

  template <class Blocking, class Nonblocking, class... Arguments>
  static void call_blocking_or_not(MPI_Request* request, Blocking now, Nonblocking later,
                                   Arguments... arguments) {
    request ? later(arguments..., request) : now(arguments...);
  }

  void call(const Step& step, MPI_Request* request) {
    const MPI_Comm comm = handle(step);
    std::byte* const out = slots_.data(step.start);
    std::byte* const in = out + outgoing(step);
    const auto [count, type] = counted_.of(step.bytes);
    const int doubles = static_cast<int>(std::min<std::uint64_t>(step.bytes / sizeof(double), INT_MAX));
    const int root = std::max(0, step.peer);
    switch (step.tag) {
      case barrier: call_blocking_or_not(request, MPI_Barrier, MPI_Ibarrier, comm); break;
      case bcast: call_blocking_or_not(request, MPI_Bcast, MPI_Ibcast, out, count, type, root, comm); break;
      case gather:
        call_blocking_or_not(request, MPI_Gather, MPI_Igather, out, count, type, in, count, type, root, comm);
        break;
      case scatter:
        call_blocking_or_not(request, MPI_Scatter, MPI_Iscatter, out, count, type, in, count, type, root,
                             comm);
        break;
      case allgather:
        call_blocking_or_not(request, MPI_Allgather, MPI_Iallgather, out, count, type, in, count, type, comm);
        break;
      case alltoall:
        call_blocking_or_not(request, MPI_Alltoall, MPI_Ialltoall, out, count, type, in, count, type, comm);
        break;
      case gatherv: {
        const auto& [counts, displacements] = blocks(step, count);
        call_blocking_or_not(request, MPI_Gatherv, MPI_Igatherv, out, count, type, in, counts.data(),
                             displacements.data(), type, root, comm);
        break;
      }
      case scatterv: {
        const auto& [counts, displacements] = blocks(step, count);
        call_blocking_or_not(request, MPI_Scatterv, MPI_Iscatterv, out, counts.data(), displacements.data(),
                             type, in, count, type, root, comm);
        break;
      }
      case allgatherv: {
        const auto& [counts, displacements] = blocks(step, count);
        call_blocking_or_not(request, MPI_Allgatherv, MPI_Iallgatherv, out, count, type, in, counts.data(),
                             displacements.data(), type, comm);
        break;
      }
      case alltoallv: {
        const auto& [counts, displacements] = blocks(step, count);
        call_blocking_or_not(request, MPI_Alltoallv, MPI_Ialltoallv, out, counts.data(), displacements.data(),
                             type, in, counts.data(), displacements.data(), type, comm);
        break;
      }
      case reduce:
        call_blocking_or_not(request, MPI_Reduce, MPI_Ireduce, out, in, doubles, MPI_DOUBLE, sum_.operation,
                             root, comm);
        break;
      case allreduce:
        call_blocking_or_not(request, MPI_Allreduce, MPI_Iallreduce, out, in, doubles, MPI_DOUBLE,
                             sum_.operation, comm);
        break;
      case reduce_scatter_block:
        call_blocking_or_not(request, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, out, in, doubles,
                             MPI_DOUBLE, sum_.operation, comm);
        break;
      case reduce_scatter:
        call_blocking_or_not(request, MPI_Reduce_scatter, MPI_Ireduce_scatter, out, in,
                             blocks(step, doubles).counts.data(), MPI_DOUBLE, sum_.operation, comm);
        break;
      case scan:
        call_blocking_or_not(request, MPI_Scan, MPI_Iscan, out, in, doubles, MPI_DOUBLE, sum_.operation,
                             comm);
        break;
      case exscan:
        call_blocking_or_not(request, MPI_Exscan, MPI_Iexscan, out, in, doubles, MPI_DOUBLE, sum_.operation,
                             comm);
        break;
      default: break;
    }
  }

  // Equal blocks, one after another. They are kept for calls that have not ended.
  const Blocks& blocks(const Step& step, int count) {
    const auto ranks = static_cast<std::size_t>(sizes_[step.channel]);
    const auto [place, is_new] = blocks_.try_emplace({ranks, count});
    if (is_new)
      for (std::size_t k = 0; k < ranks; ++k) {
        place->second.counts.push_back(count);
        place->second.displacements.push_back(static_cast<int>(k) * count);
      }
    return place->second;
  }

  MPI_Comm handle(const Step& step) const { return communicators_[step.channel].handle; }

  // Marks messages in a verified run. Each message has a separate mark, the same at both ends: its number
  // among the messages from one rank to another with the same tag. Receives from any rank accept any message.
  void mark(const Step& step, std::byte* data) {
    if (!checking_) return;
    const std::uint64_t mark = identity(step, true);
    std::memcpy(data, &mark, std::min<std::size_t>(step.bytes, sizeof mark));
    if (step.bytes >= 2 * sizeof mark) std::memcpy(data + step.bytes - sizeof mark, &mark, sizeof mark);
  }

  void expect(const Step& step) {
    if (!checking_) return;
    expected_[step.start] = step.peer >= 0 && step.tag >= 0 ? identity(step, false) : 0;
    bytes_[step.start] = step.bytes;
  }

  void check_arrival(const Step& step) {
    if (checking_) check_arrival(step.start);
  }

  void check_arrival(std::uint32_t slot) {
    const std::uint64_t mark = std::exchange(expected_[slot], 0);
    if (mark == 0) return;  // sent, or received from any rank
    const std::uint64_t bytes = bytes_[slot];
    const std::byte* const data = slots_.data(slot);
    const auto is_different = [&](const std::byte* at, std::size_t size) {
      check_.bytes += size;
      if (std::memcmp(at, &mark, size) == 0) return;
      ++check_.errors;
      if (check_.first.empty())
        check_.first = "a message of " + std::to_string(bytes) + " bytes is another one";
    };
    is_different(data, std::min<std::size_t>(bytes, sizeof mark));
    if (bytes >= 2 * sizeof mark) is_different(data + bytes - sizeof mark, sizeof mark);
  }

  std::uint64_t identity(const Step& step, bool outgoing) {
    const auto own = static_cast<std::uint64_t>(communicators_[step.channel].rank);
    const auto other = static_cast<std::uint64_t>(step.peer);
    std::uint64_t key = mix(seed_ ^ step.channel);
    key = mix(key ^ (outgoing ? own : other));
    key = mix(key ^ (outgoing ? other : own));
    key = mix(key ^ static_cast<std::uint64_t>(step.tag));
    return mix(key ^ numbers_[key ^ (outgoing ? 0 : mix(1))]++) | 1;
  }

  void discard_unfinished() {
    std::fill(seconds_.begin(), seconds_.end(), 0);
    runs_ = 0;
  }

  std::uint32_t computation() const { return static_cast<std::uint32_t>(seconds_.size() - 1); }

  void enter(std::uint32_t place) {
    if (place == current_) return;
    spend();
    current_ = place;
  }

  void spend() {
    const double time = now();
    seconds_[current_] += std::max(0.0, time - interval_start_s_ - reading_s_);
    interval_start_s_ = time;
  }

  struct Copy {
    std::unique_ptr<std::byte[]> data;
    std::uint64_t bytes = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint8_t enter_step = replayer::enter;
  static constexpr std::uint8_t completes_at_target =
      64;  // flag of a wait for a one-sided operation at its target

  const Comm& comm_;
  const SumOp sum_;
  int max_tag_ = 32767;
  std::vector<std::uint64_t> sizes_;                      // sizes of the communicators
  std::map<std::pair<std::size_t, int>, Blocks> blocks_;  // by number of ranks and count
  std::vector<Comm> communicators_;
  std::vector<MPI_Win> windows_;  // one per communicator
  std::vector<Step> steps_;
  Slots slots_;
  Counts counted_;
  Work work_;
  std::vector<MPI_Request> requests_, waiting_requests_;
  std::deque<Copy> copies_;
  double tail_s_ = 0;

  std::vector<double> seconds_;  // since the last sample, by call site; the last is computation
  std::vector<double> total_s_;
  std::vector<bool> collective_;
  long runs_ = 0, counted_runs_ = 0;
  bool counts_ = false;
  std::uint32_t current_ = 0;
  double start_s_ = 0, interval_start_s_ = 0, rank_s_ = 0, reading_s_ = 0;

  bool checking_ = false;
  std::uint64_t seed_ = 0;
  Check check_;
  std::vector<std::uint64_t> expected_, bytes_;  // by slot
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
};

constexpr Parameter replay_parameters[] = {
    {"graph", hockney::Kind::text, "", "none", 0, 0, "none|plan:NAME",
     "name of the program, whose steps are next to the plan in NAME.steps"},
    parameters::sync_each};

constexpr Metric replay_metrics[] = {
    phases::computation,
    phases::messages,
    phases::collectives,
    {.name = "rank",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "time of a rank"},
    {.name = "place",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::superstep,
     .help = "time in the calls of a call site, the mean over the ranks and repetitions"},
};

}  // namespace

extern constinit const WorkloadInfo replay{
    .name = "replay",
    .role = "replay",
    .operation = "replay",
    .help = "the calls of a traced program, with the computation between them",
    .time = "the whole program, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = replay_parameters,
    .metrics = replay_metrics,
    .make = make<Replay>,
};

}  // namespace hockney::replayer
