// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hockney {

// Makes the C library keep freed memory, unless the user's environment configures its allocator. Otherwise
// glibc adapts to what was freed before, so that temporary buffers of an MPI cost page faults in each call or
// in none, depending on the cases measured earlier in the process.
void keep_freed_memory();

}  // namespace hockney
