// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>

#include "base/abilities.hpp"
#include "base/invalid_case.hpp"

// Calls an MPI-4 function if this MPI has it.
#if HOCKNEY_HAS_MPI4
#define HOCKNEY_IF_MPI4(...) __VA_ARGS__
#else
#define HOCKNEY_IF_MPI4(...)
#define HOCKNEY_NO_MPI4
#endif

namespace hockney::persistent {

// Throws InvalidCase if this MPI lacks `call`; `alternative` names an alternative.
inline void require_mpi4([[maybe_unused]] const char* call, [[maybe_unused]] const char* alternative) {
#ifdef HOCKNEY_SMPI
  throw InvalidCase(std::string(call) + " cannot be simulated (SimGrid's MPI has no calls of MPI-4); use " +
                    alternative);
#elif defined(HOCKNEY_NO_MPI4)
  throw InvalidCase(std::string("this MPI has no ") + call + " (it implements MPI " +
                    std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION) +
                    ", the call is from 4.0); use " + alternative);
#endif
}

}  // namespace hockney::persistent
