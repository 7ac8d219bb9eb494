// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "library/bsp/program.hpp"

#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/invalid_case.hpp"
#ifdef HOCKNEY_SMPI
#include "comm/rank_state.hpp"
#endif

namespace hockney::bsp::inline v1 {

#ifdef HOCKNEY_SMPI

// Before MPI_Init a rank has no state.
bool Program::started() {
  int begun = 0, over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  return begun && !over;
}

Program& Program::here() {
  if (!started()) {
    thread_local Program none;  // holds nothing that lasts
    return none;
  }
  return RankState<Program>::get();
}

#else

Core* Program::running = nullptr;

Program& Program::here() {
  // Never destroyed: MPI may be finalised before static objects are.
  static Program& program = *new Program;
  return program;
}

bool Program::started() {
  int begun = 0;
  MPI_Initialized(&begun);
  return begun != 0;
}

#endif

// Called by the first BSPlib function, even if the program has started MPI itself.
void Program::start_mpi() {
  if (nprocs_ > 0) return;
  if (!started()) {
#ifndef HOCKNEY_SMPI
    // Open MPI's component for one-sided operations over UCX prints warnings where there is no such network.
    setenv("OMPI_MCA_osc", "^ucx", 0);
#endif
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level);
    owns_mpi_ = true;
#ifdef HOCKNEY_SMPI
    Program& program = here();
    if (&program != this) {
      program.owns_mpi_ = true;
      program.check_ = check_;
      program.start_mpi();
      return;
    }
#endif
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &nprocs_);
#ifndef HOCKNEY_SMPI
  std::atexit([] { here().leave_program(); });
#endif
}

void Program::fail(Call call, const char* text) const {
  Place place = core_ ? core_->place() : place_;
  place.file = place_.file;
  place.line = place_.line;
  bsp::fail(place, call, "%s", text);
}

void Program::abort(const char* format, std::va_list values) const {
  bsp::fail(core_ ? core_->place() : place_, Call::abort, format, values);
}

void Program::called_at(const char* file, int line) {
  place_.file = file;
  place_.line = line;
  check_ = true;
  if (core_) core_->set_call_site(file, line);
}

void Program::init(void (*spmd)(), int, char**) {
  if (stage_ != Stage::before) fail(Call::init, "not the first call (expected before bsp_begin, and once)");
  start_mpi();
#ifdef HOCKNEY_SMPI
  Program& program = here();
#else
  Program& program = *this;
#endif
  program.stage_ = Stage::initialised;
  if (program.rank_ == 0) return;
  if (!spmd) program.fail(Call::init, "the function is NULL (expected the one that calls bsp_begin)");
  spmd();
  // After bsp_end, processes other than 0 do not return, so this process has not called it.
  program.fail(Call::end, "the function given to bsp_init has returned without it");
}

void Program::begin(int maxprocs) {
  if (stage_ == Stage::running || stage_ == Stage::after)
    fail(Call::begin, "a second call (expected one bsp_begin in a program)");
  start_mpi();
#ifdef HOCKNEY_SMPI
  if (&here() != this) return here().begin(maxprocs);
#endif
  if (rank_ == 0 && maxprocs <= 0)
    fail(Call::begin, "not a positive number of processes (expected 1 or more)");
  // Process 0 may still compute before its call, while the others wait here.
  MPI_Request request;
  MPI_Ibcast(&maxprocs, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  wait_without_polling(request);
  const int used = std::min(maxprocs, nprocs_);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ < used ? 0 : MPI_UNDEFINED, rank_, &members_);
  nprocs_ = used;
  if (rank_ >= used) {
    stage_ = Stage::after;
    if (!owns_mpi_) MPI_Finalize();
    release_idle_processes();
  }
  Settings settings;
  settings.check = check_;
  try {
    core_ = std::make_unique<Core>(members_, settings, place_.prefix);
  } catch (const InvalidCase& invalid) {
    fail(Call::begin, invalid.what());
  }
  core_->set_call_site(place_.file, place_.line);
  stage_ = Stage::running;
#ifndef HOCKNEY_SMPI
  running = core_.get();
#endif
}

void Program::end() {
  if (stage_ == Stage::after) fail(Call::end, "a second call (expected one bsp_end in a program)");
  if (stage_ != Stage::running) fail(Call::end, "outside an SPMD section (expected after bsp_begin)");
  core_->end();
#ifndef HOCKNEY_SMPI
  running = nullptr;
#endif
  core_.reset();
  MPI_Comm_free(&members_);
  stage_ = Stage::after;
  // A program that has started MPI itself continues on all processes, up to its MPI_Finalize.
  if (rank_ > 0 && owns_mpi_) release_idle_processes();
}

int Program::nprocs() {
  start_mpi();
#ifdef HOCKNEY_SMPI
  if (started()) return here().nprocs_;
#endif
  return nprocs_;
}

// Processes other than 0 wait until process 0 ends, without using its core.
void Program::release_idle_processes() {
  std::fflush(nullptr);
#ifdef HOCKNEY_SMPI
  MPI_Finalize();
  smpi_exit(0);
#else
  std::exit(0);  // see leave_program()
#endif
}

void Program::wait_without_polling(MPI_Request request) const {
#ifdef HOCKNEY_SMPI
  MPI_Wait(&request,
           MPI_STATUS_IGNORE);  // no core is to be spared, and SimGrid 3.32's MPI_Test may never succeed
#else
  int done = 0;
  for (int polls = 0; !done; ++polls) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (polls > 1000 && !done) {
      const timespec pause{0, polls > 2000 ? 1'000'000 : 50'000};
      nanosleep(&pause, nullptr);
    }
  }
#endif
}

void Program::leave_program() {
  int over = 0;
  MPI_Finalized(&over);
  if (over) return;
  if (stage_ == Stage::running) fail(Call::end, "the program ends without it");
  if (stage_ == Stage::initialised) fail(Call::begin, "the program ends without it");
  if (!owns_mpi_) return;
#ifndef HOCKNEY_SMPI  // there, the others are in MPI_Finalize
  if (stage_ == Stage::after) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_without_polling(request);
  }
#endif
  MPI_Finalize();
}

}  // namespace hockney::bsp::inline v1
