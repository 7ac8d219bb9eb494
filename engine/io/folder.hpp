// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/abilities.hpp"
#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "comm/comm.hpp"

namespace hockney::io {

// The folder is taken from the environment of the command, never from a case: a plan written by somebody else
// must not determine where files are created.
inline constexpr const char* folder_variable = "HOCKNEY_IO_FOLDER";

// Returns rank 0's text on every rank.
inline std::string broadcast_text(const Comm& comm, std::string text) {
  std::size_t length = text.size();
  comm.broadcast(length);
  text.resize(length);
  comm.broadcast(text.data(), length);
  return text;
}

inline std::string io_folder(const Comm& comm) {
#if !HOCKNEY_HAS_FILES
  throw InvalidCase("files cannot be simulated (the described machines have no disks)");
#endif
  const char* const folder_name = std::getenv(folder_variable);
  const std::string folder = broadcast_text(comm, comm.root() && folder_name ? folder_name : "");
  if (folder.empty())
    throw InvalidCase(std::string("there is no folder to write to; set ") + folder_variable +
                      " to one that all ranks can write to");
  return folder;
}

// Throws if the file system is nearly full: a tenth stays free, because writes would otherwise fail midway,
// and others need space too.
inline void require_free_space(const Comm& comm, const std::string& folder, std::uint64_t bytes) {
  struct statvfs there{};
  const bool is_known = statvfs(folder.c_str(), &there) == 0;
  const double free = static_cast<double>(there.f_bavail) * static_cast<double>(there.f_frsize);
  const double parts = static_cast<double>(bytes) * comm.size;
  if (!comm.all(!comm.root() || !is_known || parts <= 0.9 * free))
    throw InvalidCase("files of " + std::to_string(bytes) + " bytes for each of " +
                      std::to_string(comm.size) + " ranks do not fit into " + folder);
}

inline std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// An unused file name in `folder`, the same on all ranks.
inline std::string unused_name(const Comm& comm, const std::string& folder) {
  const std::string unique_name =
      std::to_string(getpid()) + "-" + std::to_string(static_cast<std::int64_t>(date() * 1e6));
  return broadcast_text(comm, folder + "/hockney-" + unique_name);
}

// Creates a file for all ranks or, with MPI_COMM_SELF, for each rank. Fails if the file already exists; the
// file is removed when it is closed.
inline MPI_File open_new_file(const Comm& comm, MPI_Comm file_comm, const std::string& name,
                              const std::string& folder) {
  MPI_File file = MPI_FILE_NULL;
  constexpr int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  const int code = MPI_File_open(file_comm, name.c_str(), mode, MPI_INFO_NULL, &file);
  if (comm.all(code == MPI_SUCCESS)) return file;
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  throw InvalidCase("no file can be made in " + folder +
                    (code == MPI_SUCCESS ? " by another rank" : ": " + error_text(code)));
}

}  // namespace hockney::io
