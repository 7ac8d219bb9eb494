// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The profile of one process, from MPI_Init to MPI_Finalize.
#pragma once

#include "profile/call.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {

extern const char* folder;  // HOCKNEY_PROFILE_FOLDER; nullptr: record nothing
extern bool recording;      // false between MPI_Pcontrol(0) and MPI_Pcontrol(1)
extern bool started, ended;

// The state of the calling thread; nullptr if nothing is recorded.
extern thread_local ThreadState* own_state;
ThreadState* made_thread();
inline ThreadState* this_thread() {
  return own_state ? own_state : made_thread();
}

// After MPI_Init: finds out where the ranks are, and opens the rank's file.
void begin(ThreadState& thread, const Call& call);

// After MPI_Session_finalize: the file is complete after the last one, unless more are made.
void end_session();
void before_session_ends();  // nothing of ours may keep the session alive

// Before MPI_Finalize: measures what a recorded call costs.
void end(ThreadState& thread);

// After it: completes and closes the file.
void finish();

}  // namespace hockney::profile
