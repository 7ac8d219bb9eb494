// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

// HOCKNEY_EXPECT(condition) states a precondition. Debug builds and those with a sanitizer abort with a
// message if it does not hold; others do not evaluate it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#ifndef HOCKNEY_CONTRACTS
#define HOCKNEY_CONTRACTS
#endif
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(undefined_behavior_sanitizer)
#ifndef HOCKNEY_CONTRACTS
#define HOCKNEY_CONTRACTS
#endif
#endif
#endif

#ifdef HOCKNEY_CONTRACTS
#define HOCKNEY_EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : ::hockney::expectation_failed(#condition, __FILE__, __LINE__))
#else
#define HOCKNEY_EXPECT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif

namespace hockney {

[[noreturn]] inline void expectation_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "hockney-engine: %s:%d: expected %s\n", file, line, condition);
  std::abort();
}

}  // namespace hockney
