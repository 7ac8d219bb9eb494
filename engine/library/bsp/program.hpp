// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bsp/core.hpp"
#include "bsp/errors.hpp"

namespace hockney::bsp::inline v1 {

// A C program on one process: MPI, and the lifetime of its core from bsp_begin to bsp_end.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // This process's program. Simulated ranks of one process have separate programs.
  static Program& here();
  // The process's core; null outside bsp_begin and bsp_end.
  static Core* core() {
#ifdef HOCKNEY_SMPI
    return started() ? here().core_.get() : nullptr;
#else
    return running;
#endif
  }

  void init(void (*spmd)(), int argc, char** argv);
  void begin(int maxprocs);
  void end();
  int nprocs();
  void called_at(const char* file, int line);
  [[noreturn]] void fail(Call call, const char* text) const;
  [[noreturn]] void abort(const char* format, std::va_list values) const;
  // Ends the program, on process 0 or early.
  void leave_program();

 private:
  enum class Stage : char { before, initialised, running, after };

  static bool started();
  void start_mpi();
  [[noreturn]] void release_idle_processes();
  void wait_without_polling(MPI_Request request) const;

#ifndef HOCKNEY_SMPI
  static Core* running;
#endif
  Stage stage_ = Stage::before;
  bool owns_mpi_ = false;  // started by this program
  bool check_ = false;
  int rank_ = 0;
  int nprocs_ = 0;
  Place place_{"bsp_"};
  MPI_Comm members_ = MPI_COMM_NULL;
  std::unique_ptr<Core> core_;
};

}  // namespace hockney::bsp::inline v1
