// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Tests for features that an MPI lacks although its header promises them. `hockney doctor` compiles this
// program by itself and runs it on one rank, with the name of a file that it may create; it prints lines in
// the format of list.inc.
#include <mpi.h>

#include <cstdio>

namespace {

void print(const char* what, const char* refused, bool there) {
  std::printf("HOCKNEY_ABILITY(\"%s\", \"%s\", %d)\n", what, refused, there ? 1 : 0);
}

bool has_windows() {
  MPI_Win window = MPI_WIN_NULL;
  char* memory = nullptr;
  if (MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&memory), &window) !=
      MPI_SUCCESS)
    return false;
  return MPI_Win_free(&window) == MPI_SUCCESS;
}

bool has_dynamic_windows() {
  MPI_Win window = MPI_WIN_NULL;
  return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &window) == MPI_SUCCESS &&
         MPI_Win_free(&window) == MPI_SUCCESS;
}

struct Files {
  bool there;
  bool shared_pointer;
};

Files has_files(const char* name) {
  MPI_File file = MPI_FILE_NULL;
  constexpr int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) return {false, false};
  const char byte = 1;
  Files found{};
  found.there = MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  found.shared_pointer = MPI_File_write_shared(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  MPI_File_close(&file);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  print("MPI_THREAD_MULTIPLE", "threads", provided >= MPI_THREAD_MULTIPLE);
  print("windows", "onesided", has_windows());
  print("windows without memory", "put memory=dynamic, get memory=dynamic, win_create memory=dynamic",
        has_dynamic_windows());
  const Files files = has_files(argc > 1 ? argv[1] : "hockney-abilities");
  print("MPI-IO", "io", files.there);
  if (files.there)
    print("file pointers that ranks share", "file_write pointer=shared, file_read pointer=shared",
          files.shared_pointer);
  MPI_Finalize();
  return 0;
}
