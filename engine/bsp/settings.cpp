// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/settings.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/invalid_case.hpp"

namespace hockney::bsp::inline v1 {
namespace {

struct Choices {
  Settings settings;
  char problem[200] = "";  // describes an invalid variable
};

// Parses the variable as one of the words, whose values are 1, 2, ...
template <class Choice>
void set(Choice& choice, const char* name, const char* first, const char* second, Choices& choices) {
  const char* const value = std::getenv(name);
  if (choice != Choice{} || !value || !*value) return;
  if (std::strcmp(value, first) == 0)
    choice = static_cast<Choice>(1);
  else if (std::strcmp(value, second) == 0)
    choice = static_cast<Choice>(2);
  else
    std::snprintf(choices.problem, sizeof choices.problem, "%s is %.60s (expected %s or %s)", name, value,
                  first, second);
}

void set(std::size_t& bytes, const char* name, Choices& choices) {
  const char* const value = std::getenv(name);
  if (bytes > 0 || !value || !*value) return;
  char* end = nullptr;
  bytes = std::strtoull(value, &end, 10);
  if (*end != '\0' || *value == '-' || bytes == 0)
    std::snprintf(choices.problem, sizeof choices.problem, "%s is %.60s (expected a number of bytes)", name,
                  value);
}

}  // namespace

Settings completed(const Settings& requested, const Comm& comm) {
  Choices choices;
  choices.settings = requested;
  if (comm.root()) {
    Settings& settings = choices.settings;
    set(settings.path, "HOCKNEY_BSP_PATH", "shared", "messages", choices);
    set(settings.headers, "HOCKNEY_BSP_HEADERS", "alltoall", "log", choices);
    set(settings.direct_bytes, "HOCKNEY_BSP_DIRECT", choices);
    set(settings.shared_bytes, "HOCKNEY_BSP_SHARED", choices);
    const char* const check = std::getenv("HOCKNEY_BSP_CHECK");
    if (check && *check && std::strcmp(check, "0") != 0) settings.check = true;
  }
  comm.broadcast(choices);
  if (choices.problem[0]) throw InvalidCase(choices.problem);
  return choices.settings;
}

}  // namespace hockney::bsp::inline v1
