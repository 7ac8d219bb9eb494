// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/heap.hpp"

#include <climits>
#include <cstdlib>
#include <initializer_list>

#if defined(__GLIBC__) && !defined(HOCKNEY_SMPI)
#include <malloc.h>
#endif

namespace hockney {

void keep_freed_memory() {
#if defined(__GLIBC__) && !defined(HOCKNEY_SMPI)
  for (const char* const name :
       {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES"})
    if (std::getenv(name)) return;
  constexpr int largest = 32 << 20;  // glibc accepts no larger threshold (HEAP_MAX_SIZE / 2)
  mallopt(M_MMAP_THRESHOLD, largest);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace hockney
