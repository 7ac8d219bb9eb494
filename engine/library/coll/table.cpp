// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "hockney/barrier.hpp"
#include "hockney/coll.hpp"
#include "library/coll/operations.hpp"

namespace hockney {

const std::vector<NamedOperation>& operations_with_names() {
  static const std::vector<NamedOperation> all = [] {
    std::vector<NamedOperation> entries;
    for_each_operation([&]<class Operation>(std::string_view name, Operation*, int) {
      NamedOperation made{name, {}};
      for (const auto* algorithm : Operation::table()) made.algorithms.emplace_back(algorithm->name);
      entries.push_back(std::move(made));
    });
    static const std::vector<std::string> barriers = barrier_names();
    NamedOperation barrier{"barrier", {best}};
    for (const std::string& name : barriers)
      if (name != "mpi") barrier.algorithms.emplace_back(name);
    entries.push_back(std::move(barrier));
    return entries;
  }();
  return all;
}

}  // namespace hockney

namespace hockney::coll::inline v1 {
namespace {

constexpr std::string_view file_heading = "hockney-choices 1";
constexpr std::size_t longest_line = 1000, largest_file = 1 << 24;

const NamedOperation* operation_named(std::string_view name) {
  for (const NamedOperation& each : operations_with_names())
    if (each.name == name) return &each;
  return nullptr;
}

const NamedOperation& known_operation(std::string_view name) {
  if (const NamedOperation* found = operation_named(name)) return *found;
  std::string find_known;
  for (const NamedOperation& each : operations_with_names())
    find_known += (find_known.empty() ? "" : ", ") + std::string(each.name);
  throw std::invalid_argument("unknown operation '" + std::string(name) + "'; known: " + find_known);
}

// Formats a word of a file for a message, because terminals interpret control characters.
std::string printable_word(std::string_view word) {
  constexpr std::size_t most = 60;
  std::string text(word.substr(0, most));
  for (char& each : text)
    if (each < ' ' || each > '~') each = '?';
  return "'" + text + (word.size() > most ? "...'" : "'");
}

// Parses a number of digits that is at most `most`; false for anything else.
bool read_number(std::string_view text, std::int64_t most, std::int64_t& number) {
  if (text.empty()) return false;
  number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || number > (most - (digit - '0')) / 10) return false;
    number = 10 * number + (digit - '0');
  }
  return true;
}

// Parses "N" or "N:M" with N <= M <= `most`; false for anything else.
template <class Number>
bool read_range(std::string_view text, Number& first, Number& last) {
  constexpr std::int64_t most = std::numeric_limits<Number>::max();
  const std::size_t colon = text.find(':');
  std::int64_t low = 0, high = 0;
  if (!read_number(text.substr(0, colon), most, low)) return false;
  if (colon == std::string_view::npos)
    high = low;
  else if (!read_number(text.substr(colon + 1), most, high))
    return false;
  first = static_cast<Number>(low);
  last = static_cast<Number>(high);
  return low <= high;
}

// Parses a line. Returns the reason why it is not a rule; empty if it is one.
std::string read_rule(std::string_view line, Table::Rule& rule) {
  std::istringstream words{std::string(line)};
  words >> rule.operation;
  const NamedOperation* operation = operation_named(rule.operation);
  if (!operation) return "unknown operation " + printable_word(rule.operation);
  bool ranks = false, bytes = false;
  const auto twice = [](std::string_view name) { return "a rule has one word " + std::string(name) + "="; };
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "ranks") {
      if (ranks) return twice(name);
      ranks = read_range(value, rule.first_ranks, rule.last_ranks);
      if (!ranks) return printable_word(value) + " is not a number of ranks N or a range N:M";
    } else if (name == "bytes") {
      if (bytes) return twice(name);
      bytes = read_range(value, rule.first_bytes, rule.last_bytes);
      if (!bytes) return printable_word(value) + " is not a number of bytes N or a range N:M";
    } else if (name == "algorithm") {
      if (!rule.algorithm.empty()) return twice(name);
      rule.algorithm = value;
    } else {
      return "unknown word " + printable_word(word);
    }
  }
  if (!ranks || !bytes || rule.algorithm.empty()) return "a rule needs ranks=, bytes= and algorithm=";
  if (rule.algorithm == "mpi") return "";
  const auto& find_known = operation->algorithms;
  const auto found = std::find(find_known.begin(), find_known.end(), rule.algorithm);
  if (found == find_known.end())
    return "unknown algorithm " + printable_word(rule.algorithm) + " of " + rule.operation;
  rule.place = static_cast<int>(found - find_known.begin());
  return "";
}

std::string_view trim_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// FNV-1a.
std::uint64_t mix_bytes(std::uint64_t sum, std::string_view bytes) {
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return sum;
}

}  // namespace

Table::Table() : rules_(operations_with_names().size()) {}

Table Table::parse(std::string_view text, std::string_view name) {
  Table table;
  int number = 0;
  bool headed = false;
  table.checksum_ = 0xcbf29ce484222325U;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim_line(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.empty()) continue;
    Rule rule;
    std::string problem;
    if (line.size() > longest_line)
      problem = "the line is too long";
    else if (headed)
      problem = read_rule(line, rule);
    else if (line != file_heading)
      problem = "the first line is not '" + std::string(file_heading) + "'";
    if (!problem.empty())
      throw std::runtime_error(std::string(name) + ":" + std::to_string(number) + ": " + problem);
    if (headed) {
      const std::string rule_text = rule.operation + ' ' + std::to_string(rule.first_ranks) + ' ' +
                                    std::to_string(rule.last_ranks) + ' ' + std::to_string(rule.first_bytes) +
                                    ' ' + std::to_string(rule.last_bytes) + ' ' + rule.algorithm + '\n';
      table.checksum_ = mix_bytes(table.checksum_, rule_text);
      const auto place = &known_operation(rule.operation) - operations_with_names().data();
      table.rules_[static_cast<std::size_t>(place)].push_back(std::move(rule));
    }
    headed = true;
  }
  if (!headed)
    throw std::runtime_error(std::string(name) + ": the first line is not '" + std::string(file_heading) +
                             "'");
  return table;
}

Table Table::read(const std::string& file) {
  // Opening a pipe would wait for its writer, and reading a device might never end.
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error(file + ": " + std::strerror(errno));
  struct stat status = {};
  const bool is_regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(fdopen(descriptor, "rb"), &std::fclose);
  if (!stream) throw std::runtime_error(file + ": " + std::strerror(errno));
  if (!is_regular) throw std::runtime_error(file + ": it is not a file");
  if (static_cast<std::size_t>(status.st_size) > largest_file)
    throw std::runtime_error(file + ": it is too large for a table");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (std::fread(text.data(), 1, text.size(), stream.get()) != text.size())
    throw std::runtime_error(file + ": cannot be read");
  return parse(text, file);
}

std::string_view Table::choice(std::string_view operation, int ranks, std::int64_t bytes) const {
  const auto place = &known_operation(operation) - operations_with_names().data();
  for (const Rule& rule : rules(static_cast<int>(place)))
    if (rule.first_ranks <= ranks && ranks <= rule.last_ranks && rule.first_bytes <= bytes &&
        bytes <= rule.last_bytes)
      return rule.algorithm;
  return "mpi";
}

const Table& environment_table() {
  static const Table table = [] {
    const char* const file = std::getenv("HOCKNEY_CHOICES");
    if (!file || !*file) return Table();
    try {
      return Table::read(file);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "hockney: HOCKNEY_CHOICES is not used: %s\n", error.what());
      return Table();
    }
  }();
  return table;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const NamedOperation& each : operations_with_names()) names.emplace_back(each.name);
  return names;
}

std::vector<std::string> algorithm_names(std::string_view operation) {
  const auto& names = known_operation(operation).algorithms;
  return {names.begin(), names.end()};
}

}  // namespace hockney::coll::inline v1
