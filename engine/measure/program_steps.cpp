// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/program_steps.hpp"

#include <fstream>
#include <iterator>
#include <map>

#include "base/invalid_case.hpp"
#include "base/words.hpp"

namespace hockney {
namespace {

struct Form {
  ProgramStep::Kind kind;
  std::size_t words;
};

const std::map<std::string, Form>& forms() {
  static const std::map<std::string, Form> texts = {
      {"part", {ProgramStep::Kind::part, 2}},
      {"compute", {ProgramStep::Kind::compute, 3}},
      {"send", {ProgramStep::Kind::send, 3}},
      {"receive", {ProgramStep::Kind::receive, 3}},
      {"exchange", {ProgramStep::Kind::exchange, 5}},
      {"isend", {ProgramStep::Kind::isend, 3}},
      {"ireceive", {ProgramStep::Kind::ireceive, 3}},
      {"wait", {ProgramStep::Kind::wait, 1}},
      {"collective", {ProgramStep::Kind::collective, 6}},
      {"master", {ProgramStep::Kind::master, 4}},
      {"worker", {ProgramStep::Kind::worker, 4}},
  };
  return texts;
}

std::string text_after_keyword(std::string_view line) {
  return "'" + std::string(line.substr(0, 60)) + "'";
}

int rank_in(const std::string& text, int ranks) {
  const auto rank = to_integer(text, "rank");
  if (rank < 0 || rank >= ranks) throw InvalidCase("rank " + text + " of a program does not exist");
  return static_cast<int>(rank);
}

std::size_t bytes_in(const std::string& text) {
  const auto bytes = to_integer(text, "bytes");
  if (bytes < 0) throw InvalidCase("bytes=" + text + " of a program is out of range");
  return static_cast<std::size_t>(bytes);
}

double seconds_in(const std::string& text) {
  const double seconds = to_real(text, "seconds");
  if (seconds < 0) throw InvalidCase("seconds=" + text + " of a program is out of range");
  return seconds;
}

ProgramStep step_of(const std::vector<std::string>& words, ProgramStep::Kind kind, int ranks) {
  ProgramStep step{.kind = kind};
  switch (kind) {
    case ProgramStep::Kind::part: step.number = seconds_in(words[1]); break;
    case ProgramStep::Kind::compute:
      step.number = seconds_in(words[1]);
      step.noise = seconds_in(words[2]);
      break;
    case ProgramStep::Kind::send:
    case ProgramStep::Kind::isend:
      step.to = rank_in(words[1], ranks);
      step.send_bytes = bytes_in(words[2]);
      break;
    case ProgramStep::Kind::receive:
    case ProgramStep::Kind::ireceive:
      step.from = rank_in(words[1], ranks);
      step.receive_bytes = bytes_in(words[2]);
      break;
    case ProgramStep::Kind::exchange:
      step.to = rank_in(words[1], ranks);
      step.send_bytes = bytes_in(words[2]);
      step.from = rank_in(words[3], ranks);
      step.receive_bytes = bytes_in(words[4]);
      break;
    case ProgramStep::Kind::wait: break;
    case ProgramStep::Kind::collective:
      step.operation = words[1];
      step.send_bytes = bytes_in(words[2]);
      step.algorithm = words[3];
      step.to = static_cast<int>(to_integer(words[4], "grouping"));
      step.from = static_cast<int>(to_integer(words[5], "colour"));
      break;
    case ProgramStep::Kind::master:
    case ProgramStep::Kind::worker:
      step.to = static_cast<int>(to_integer(words[1], "list"));
      step.send_bytes = bytes_in(words[2]);
      step.receive_bytes = bytes_in(words[3]);
      break;
  }
  return step;
}

// Calls `visit` with each line that is not empty.
template <class Use>
void for_each_line(std::string_view text, Use visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The text that precedes the first rank's steps, then the steps of each rank.
std::vector<std::string> sections(const std::string& text) {
  std::vector<std::string> found(1);
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("rank "))
      found.emplace_back();
    else
      found.back().append(line) += '\n';
  });
  return found;
}

// Sends each rank its text; rank 0 has all `texts`.
std::string scatter_texts(const std::vector<std::string>& texts, const Comm& comm) {
  constexpr int tag = 1;
  std::vector<int> sizes;
  for (const std::string& text : texts) sizes.push_back(static_cast<int>(text.size()));
  const int size = comm.scatter(sizes);
  if (comm.root()) {
    for (int rank = 1; rank < comm.size; ++rank) {
      const std::string& text = texts[static_cast<std::size_t>(rank)];
      MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, tag, comm.handle);
    }
    return texts.front();
  }
  std::string rank_text(static_cast<std::size_t>(size), ' ');
  MPI_Recv(rank_text.data(), size, MPI_CHAR, 0, tag, comm.handle, MPI_STATUS_IGNORE);
  return rank_text;
}

}  // namespace

ProgramSteps parse_steps(std::string_view common_text, std::string_view rank_text, int ranks) {
  ProgramSteps program;
  for_each_line(common_text, [&](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    if (words.front() == "ranks" && words.size() == 2) {
      if (to_integer(words[1], "ranks") != ranks)
        throw InvalidCase("the program is written for " + words[1] + " ranks, not " + std::to_string(ranks));
    } else if (words.front() == "tasks") {
      std::vector<double>& list = program.tasks.emplace_back();
      for (std::size_t i = 1; i < words.size(); ++i) list.push_back(seconds_in(words[i]));
    } else {
      throw InvalidCase(text_after_keyword(line) + " does not belong into a program");
    }
  });
  for_each_line(rank_text, [&](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    const auto form = words.empty() ? forms().end() : forms().find(words.front());
    if (form == forms().end() || words.size() != form->second.words)
      throw InvalidCase(text_after_keyword(line) + " is no step of a program");
    const ProgramStep step = step_of(words, form->second.kind, ranks);
    const bool tasks = step.kind == ProgramStep::Kind::master || step.kind == ProgramStep::Kind::worker;
    if (tasks && (step.to < 0 || static_cast<std::size_t>(step.to) >= program.tasks.size()))
      throw InvalidCase(text_after_keyword(line) + " has no list of tasks");
    program.steps.push_back(step);
  });
  return program;
}

ProgramSteps read_program(const std::string& path, const Comm& comm) {
  std::vector<std::string> parts;
  if (comm.root()) {
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (file.is_open() && !file.bad()) parts = sections(text);
  }
  std::uint64_t count = parts.size();
  comm.broadcast(count);
  if (count == 0) throw InvalidCase("the program '" + path + "' cannot be read by rank 0");
  if (count != static_cast<std::uint64_t>(comm.size) + 1)
    throw InvalidCase("the program '" + path + "' has steps of " + std::to_string(count - 1) +
                      " ranks, not " + std::to_string(comm.size));
  std::string common_text = comm.root() ? parts.front() : "";
  std::uint64_t size = common_text.size();
  comm.broadcast(size);
  common_text.resize(size);
  comm.broadcast(common_text.data(), size);
  if (comm.root()) parts.erase(parts.begin());
  const std::string rank_text = scatter_texts(parts, comm);
  ProgramSteps program;
  std::string problem;
  try {
    program = parse_steps(common_text, rank_text, comm.size);
  } catch (const InvalidCase& invalid) {
    problem = invalid.what();
  }
  if (!comm.all(problem.empty()))
    throw InvalidCase(problem.empty() ? "the steps of another rank are damaged" : problem);
  return program;
}

}  // namespace hockney
