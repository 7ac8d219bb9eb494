// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "base/random.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/computing.hpp"
#include "measure/parameters.hpp"
#include "measure/program_phases.hpp"
#include "measure/program_steps.hpp"
#include "measure/workload.hpp"

namespace hockney::patterns {
namespace {

using Step = ProgramStep::Kind;

enum class Spent { computation, messages, collectives };

constexpr int program_tag = 1, result_tag = 2, stop_tag = 3, first_task_tag = 4;
constexpr std::uint64_t max_messages = std::uint64_t{1} << 24;  // per rank and iteration

// A message that this rank sends or receives in each iteration, with its buffer.
struct ProgramMessage {
  ProgramMessage(const Place& place, std::size_t bytes, std::uint64_t from)
      : block(bytes), buffer(place.arena, bytes, "hot"), identity(from) {}

  std::byte* data() { return buffer.next(); }

  const Block block;
  Buffer buffer;
  const std::uint64_t identity;  // of its payload
};

// A collective is the workload with its name, on the ranks that call it, including its data, algorithms and
// verification.
std::unique_ptr<Workload> collective(const ProgramStep& step, const Place& place) {
  for (const WorkloadInfo* info : all_workloads()) {
    if (step.operation != info->name) continue;
    std::map<std::string, std::string> values;
    for (const Parameter& parameter : info->parameters) values[parameter.name] = parameter.standard;
    if (values.contains("bytes")) values["bytes"] = std::to_string(step.send_bytes);
    values["algorithm"] = step.algorithm;
    return info->make(place, Values(values));
  }
  throw InvalidCase("a program cannot call '" + step.operation + "'");
}

// One iteration of a described program, without its data: each rank computes for the described time, sends
// and receives messages of the same sizes in the same order, and calls the same collectives. As in the
// program, iterations follow one another without a barrier.
class Program final : public Workload {
 public:
  Program(const Place& place, const Values& values)
      : comm_(place.comm),
        iterations_(static_cast<int>(values.integer("iterations"))),
        program_(read_program(steps_path(place, values), place.comm)),
        random_(mix(static_cast<std::uint64_t>(place.launch)) + static_cast<std::uint64_t>(comm_.rank)) {
    for (const ProgramStep& step : program_.steps) add(step, place);
    requests_.reserve(actions_.size());
  }

  void prepare(int count) override {
    for (auto& [seconds, computing] : computing_) computing.recheck();
    for (Call& call : calls_) call.workload->prepare(count * call.times);
  }

  void run() override {
    phase_start_s_ = now();
    bool is_due = true;
    for (const Action& action : actions_) {
      if (action.kind == Step::part)
        is_due = is_part_due(action.number);
      else if (is_due)
        take(action);
    }
    spend(current_);
    ++iteration_;
    executes_all_parts_ = false;
  }

  // Makes the next iteration execute all parts, so that all data arrive.
  void fill(const Payload& payload) override {
    executes_all_parts_ = true;
    const Payload part = payload.divided_among(outgoing_.size() + incoming_.size());
    for (ProgramMessage& message : outgoing_) write_bytes(message.buffer.upcoming(), part, message.identity);
    for (ProgramMessage& message : incoming_) spoil(message.buffer.upcoming(), part);
    for (Call& call : calls_) call.workload->fill(payload);
  }

  Check verify(const Payload& payload) override {
    Check all;
    const Payload part = payload.divided_among(outgoing_.size() + incoming_.size());
    for (ProgramMessage& message : incoming_)
      all += check_bytes(message.buffer.current(), part, message.identity, "a message of the program");
    for (Call& call : calls_) all += call.workload->verify(payload);
    return all;
  }

  bool keeps_payload() const override { return true; }
  int back_to_back() const override { return iterations_; }

  std::optional<double> computing_s() const override {
    double seconds = 0;
    for (const Action& action : actions_)
      if (action.kind == Step::compute) seconds += action.number;
    return seconds;
  }

  void sample(MetricValues& values) override {
    values.set("computation", std::exchange(spent_[0], 0));
    values.set("messages", std::exchange(spent_[1], 0));
    values.set("collectives", std::exchange(spent_[2], 0));
  }

 private:
  // Path of the file that hockney/models/programs/skeleton.py has written next to the plan. Throws
  // InvalidCase.
  static std::string steps_path(const Place& place, const Values& values) {
    const std::string& word = values.word("description");
    const std::string name = word.substr(word.find(':') + 1);
    if (word == "none" || name.find('/') != std::string::npos)
      throw InvalidCase("description=" + word + " names no program of this plan");
    return place.files + "/" + name + "-" + std::to_string(place.comm.size) + ".txt";
  }

  // A step with its messages and calls, which are given by index.
  struct Action {
    Step kind;
    int to = -1, from = -1;
    ProgramMessage* out = nullptr;
    ProgramMessage* in = nullptr;
    Computing* computing = nullptr;
    Workload* call = nullptr;
    const std::vector<double>* tasks = nullptr;
    double number = 0;
    double noise = 0;
  };

  struct Call {
    std::unique_ptr<Workload> workload;
    int times = 1;
  };

  void add(const ProgramStep& step, const Place& place) {
    Action action{
        .kind = step.kind, .to = step.to, .from = step.from, .number = step.number, .noise = step.noise};
    switch (step.kind) {
      case Step::compute: action.computing = &computing_for(step.number); break;
      case Step::send:
      case Step::isend: action.out = &sent_counts(step.to, step.send_bytes, place); break;
      case Step::receive:
      case Step::ireceive: action.in = &received_counts(step.from, step.receive_bytes, place); break;
      case Step::exchange:
        action.out = &sent_counts(step.to, step.send_bytes, place);
        action.in = &received_counts(step.from, step.receive_bytes, place);
        break;
      case Step::collective: action.call = make_call(step, place); break;
      case Step::master:
      case Step::worker: add_tasks(action, step, place); break;
      case Step::part:
      case Step::wait: break;
    }
    const bool is_alone = step.kind == Step::collective && !action.call;
    if (!is_alone) actions_.push_back(action);
  }

  // All tasks carry the same data; so do all results of a worker.
  void add_tasks(Action& action, const ProgramStep& step, const Place& place) {
    action.tasks = &program_.tasks[static_cast<std::size_t>(step.to)];
    int* upper = nullptr;
    int type_known = 0;
    MPI_Comm_get_attr(comm_.handle, MPI_TAG_UB, &upper, &type_known);
    if (type_known &&
        static_cast<double>(action.tasks->size()) > static_cast<double>(*upper) - first_task_tag)
      throw InvalidCase("this MPI has too few tags for " + std::to_string(action.tasks->size()) + " tasks");
    double total = 0;
    for (const double seconds : *action.tasks) total += seconds;
    action.number = total / static_cast<double>(std::max<std::size_t>(1, action.tasks->size()));
    const bool master = step.kind == Step::master;
    if (comm_.size == 1 || !master) action.computing = &computing_for(action.number);
    if (comm_.size == 1) return;
    const std::uint64_t list = static_cast<std::uint64_t>(step.to);
    const std::uint64_t task = ~(2 * list), result = ~(2 * list + 1);
    action.out =
        &outgoing_.emplace_back(place, master ? step.send_bytes : step.receive_bytes, master ? task : result);
    // a worker without tasks receives nothing
    const bool has_tasks = master || static_cast<std::size_t>(comm_.rank) <= action.tasks->size();
    auto& messages = has_tasks ? incoming_ : unused_messages_;
    action.in =
        &messages.emplace_back(place, master ? step.receive_bytes : step.send_bytes, master ? result : task);
  }

  Computing& computing_for(double seconds) { return computing_.try_emplace(seconds, seconds).first->second; }

  ProgramMessage& sent_counts(int to, std::size_t bytes, const Place& place) {
    return outgoing_.emplace_back(place, bytes, identity(comm_.rank, to, sent_counts_[to]++));
  }

  ProgramMessage& received_counts(int from, std::size_t bytes, const Place& place) {
    return incoming_.emplace_back(place, bytes, identity(from, comm_.rank, received_counts_[from]++));
  }

  // Identity of message number `number` from one rank to another in an iteration.
  std::uint64_t identity(int from, int to, std::uint64_t number) const {
    return channel(comm_, from, to) * max_messages + number;
  }

  // The workload of a collective; null if a rank calls it alone. Collective.
  Workload* make_call(const ProgramStep& step, const Place& place) {
    const Comm* comm = &comm_;
    if (step.to >= 0) {
      auto& group = groups_[step.to];
      if (group.handle == MPI_COMM_NULL) {
        MPI_Comm handle = MPI_COMM_NULL;
        MPI_Comm_split(comm_.handle, step.from, comm_.rank, &handle);
        group = Comm::owner(handle);
      }
      comm = &group;
    }
    if (comm->size < 2) return nullptr;
    const std::string name = step.operation + " " + std::to_string(step.send_bytes) + " " + step.algorithm +
                             " " + std::to_string(step.to);
    const auto [found, is_new] = call_indices_.try_emplace(name, calls_.size());
    if (is_new)
      calls_.push_back({collective(step, {*comm, place.arena, place.launch, place.files})});
    else
      ++calls_[found->second].times;
    return calls_[found->second].workload.get();
  }

  // Whether this iteration executes a part that is executed in the fraction `share` of the iterations.
  bool is_part_due(double share) const {
    const auto count = static_cast<double>(iteration_);
    return executes_all_parts_ || share >= 1 || std::floor((count + 1) * share) > std::floor(count * share);
  }

  void take(const Action& action) {
    switch (action.kind) {
      case Step::compute: compute(*action.computing, factor(action.noise)); break;
      case Step::send:
        enter(Spent::messages);
        MPI_Send(action.out->data(), action.out->block.count, action.out->block.type, action.to, program_tag,
                 comm_.handle);
        break;
      case Step::receive:
        enter(Spent::messages);
        MPI_Recv(action.in->data(), action.in->block.count, action.in->block.type, action.from, program_tag,
                 comm_.handle, MPI_STATUS_IGNORE);
        break;
      case Step::exchange:
        enter(Spent::messages);
        MPI_Sendrecv(action.out->data(), action.out->block.count, action.out->block.type, action.to,
                     program_tag, action.in->data(), action.in->block.count, action.in->block.type,
                     action.from, program_tag, comm_.handle, MPI_STATUS_IGNORE);
        break;
      case Step::isend:
        enter(Spent::messages);
        MPI_Isend(action.out->data(), action.out->block.count, action.out->block.type, action.to, program_tag,
                  comm_.handle, &requests_.emplace_back());
        break;
      case Step::ireceive:
        enter(Spent::messages);
        MPI_Irecv(action.in->data(), action.in->block.count, action.in->block.type, action.from, program_tag,
                  comm_.handle, &requests_.emplace_back());
        break;
      case Step::wait:
        enter(Spent::messages);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        break;
      case Step::collective:
        enter(Spent::collectives);
        action.call->run();
        break;
      case Step::master: comm_.size == 1 ? run_all(action) : serve_tasks(action); break;
      case Step::worker: work(action); break;
      case Step::part: break;
    }
  }

  void compute(Computing& computing, double factor) {
    enter(Spent::computation);
    computing.run(factor);
  }

  // Returns a gamma-distributed factor with mean 1, as in the model.
  double factor(double noise) {
    if (noise <= 0) return 1;
    return std::gamma_distribution<double>(1 / (noise * noise), noise * noise)(random_);
  }

  void run_all(const Action& action) {
    for (const double seconds : *action.tasks) compute(*action.computing, relative(action, seconds));
  }

  static double relative(const Action& action, double seconds) {
    return action.number > 0 ? seconds / action.number : 1;
  }

  // Sends each worker the next task when its result has arrived, and an empty message at the end.
  void serve_tasks(const Action& action) {
    enter(Spent::messages);
    const int tasks = static_cast<int>(action.tasks->size());
    int next = 0;
    const auto give = [&](int worker) {
      ProgramMessage& task = *action.out;
      if (next < tasks)
        MPI_Send(task.data(), task.block.count, task.block.type, worker, first_task_tag + next++,
                 comm_.handle);
      else
        MPI_Send(nullptr, 0, MPI_BYTE, worker, stop_tag, comm_.handle);
    };
    for (int worker = 1; worker < comm_.size; ++worker) give(worker);
    for (int completed = 0; completed < tasks; ++completed) {
      MPI_Status status;
      ProgramMessage& result = *action.in;
      MPI_Recv(result.data(), result.block.count, result.block.type, MPI_ANY_SOURCE, result_tag, comm_.handle,
               &status);
      give(status.MPI_SOURCE);
    }
  }

  void work(const Action& action) {
    for (;;) {
      enter(Spent::messages);
      MPI_Status status;
      ProgramMessage& task = *action.in;
      MPI_Recv(task.data(), task.block.count, task.block.type, 0, MPI_ANY_TAG, comm_.handle, &status);
      if (status.MPI_TAG == stop_tag) return;
      const auto number = static_cast<std::size_t>(status.MPI_TAG - first_task_tag);
      compute(*action.computing, relative(action, (*action.tasks)[number]));
      enter(Spent::messages);
      ProgramMessage& result = *action.out;
      MPI_Send(result.data(), result.block.count, result.block.type, 0, result_tag, comm_.handle);
    }
  }

  void enter(Spent kind) {
    if (kind == current_) return;
    spend(current_);
    current_ = kind;
  }

  void spend(Spent kind) {
    const double time = now();
    spent_[static_cast<std::size_t>(kind)] += time - phase_start_s_;
    phase_start_s_ = time;
  }

  const Comm& comm_;
  const int iterations_;
  const ProgramSteps program_;
  std::mt19937_64 random_;
  std::map<double, Computing> computing_;  // by their seconds
  std::deque<ProgramMessage> outgoing_, incoming_, unused_messages_;
  std::map<int, std::uint64_t> sent_counts_, received_counts_;  // messages of an iteration, by rank
  std::map<int, Comm> groups_;
  std::map<std::string, std::size_t> call_indices_;
  std::vector<Call> calls_;
  std::vector<Action> actions_;
  std::vector<MPI_Request> requests_;
  long iteration_ = 0;
  bool executes_all_parts_ = false;
  Spent current_ = Spent::computation;
  double phase_start_s_ = 0;
  double spent_[3] = {0, 0, 0};
};

constexpr Parameter program_parameters[] = {
    {"description", Kind::text, "", "none", 0, 0, "none|plan:NAME",
     "name of the program, whose steps are next to the plan in NAME-RANKS.txt"},
    {"iterations", Kind::integer, "", "20", 1, 1e6, "",
     "back-to-back iterations between two readings of the clock"},
    parameters::sync_each};

constexpr Metric program_metrics[] = {phases::computation, phases::messages, phases::collectives};

}  // namespace

extern constinit const WorkloadInfo program{
    .name = "program",
    .role = "program",
    .operation = "program",
    .help = "the skeleton of a program that a file describes: its computation, messages and collectives",
    .time = "one iteration, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = program_parameters,
    .metrics = program_metrics,
    .make = make<Program>,
};

}  // namespace hockney::patterns
