// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "emulated/room.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "emulated/links.hpp"
#include "emulated/medium.hpp"
#include "emulated/problem.hpp"
#include "emulated/relay.hpp"

namespace hockney::emulated {

namespace {

constexpr int host_namespaces = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS;
constexpr const char* front_port = "pfront";

std::string host_name(int number) {
  return "h" + std::to_string(number);
}
std::string port_name(int number) {
  return "p" + std::to_string(number);
}

void write_file(const std::string& path, const std::string& text, const char* step) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  require(file >= 0, step);
  const ssize_t written = write(file, text.data(), text.size());
  close(file);
  require(written == static_cast<ssize_t>(text.size()), step);
}

// The user becomes root in a new namespace, and thus has rights over the namespaces below it.
void enter_user_namespace() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  require(unshare(CLONE_NEWUSER) == 0, "user namespace");
  write_file("/proc/self/setgroups", "deny", "user namespace");
  write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1", "user namespace");
  write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1", "user namespace");
  // the rank's parents see root and refuse without it
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
}

// Even root may lack the rights, for example in a container.
void enter_namespaces() {
  constexpr int all = CLONE_NEWPID | host_namespaces;
  if (geteuid() == 0) {
    if (unshare(all) == 0) return;
    require(errno == EPERM, "network namespace");
  }
  enter_user_namespace();
  require(unshare(all) == 0, "network namespace");
}

void mount_memory(const char* place) {
  require(mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0, "mount");
}

// Disables IPv6 in a new namespace, because its announcements would use the wire.
void disable_ipv6() {
  for (const char* interface_group : {"all", "default"}) {
    const std::string file = std::string("/proc/sys/net/ipv6/conf/") + interface_group + "/disable_ipv6";
    if (access(file.c_str(), F_OK) == 0) write_file(file, "1", "sysctl");
  }
}

void set_tcp(const Settings& settings) {
  // without losses, congestion control has nothing to do; cubic would leave slow start early when the delay
  // grows
  write_file("/proc/sys/net/ipv4/tcp_congestion_control", "reno", "sysctl");
  if (settings.send_buffer > 0) {
    const std::string max_buffer = std::to_string(settings.send_buffer);
    write_file("/proc/sys/net/ipv4/tcp_wmem", "4096 " + max_buffer + " " + max_buffer, "sysctl");
  }
}

// Waits until the other side writes or closes; false if it closed.
bool wait_for(int pipe) {
  char byte = 0;
  return read(pipe, &byte, 1) == 1;
}

void notify(int pipe) {
  require(write(pipe, "+", 1) == 1, "pipe");
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
    out = ends[0];
    in = ends[1];
  }
  int out = -1;
  int in = -1;
};

void start_interface(int number) {
  disable_offloads("eth0");
  assign_address("eth0", number);
  bring_up("eth0");
}

// Runs the host's own process, which holds the namespaces open. Nothing else runs there before the ranks.
[[noreturn]] void run_holder(const Settings& settings, int number, int ready_events, int start_pipe) {
  prctl(PR_SET_NAME, host_name(number).c_str());
  require(unshare(host_namespaces) == 0, "network namespace");
  require(sethostname(host_name(number).c_str(), host_name(number).size()) == 0, "host name");
  mount_memory("/dev/shm");
  // shows the host's own interfaces; where this is not allowed, few programs look there
  static_cast<void>(mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  disable_ipv6();
  set_tcp(settings);
  bring_up("lo");
  notify(ready_events);
  if (!wait_for(start_pipe)) _exit(1);
  start_interface(number);
  notify(ready_events);
  while (true) pause();
}

template <typename Body>
pid_t forked(Body body) {
  const pid_t pid = fork();
  require(pid >= 0, "process");
  if (pid == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "hockney-ethernet: %s\n", error.what());
    }
    _exit(setup_failed);
  }
  return pid;
}

// Creates all hosts at the same time, since each waits for the kernel.
std::vector<pid_t> make_hosts(const Settings& settings) {
  std::vector<int> ready_events;
  std::vector<int> start_pipe;
  std::vector<pid_t> holder_pids;
  const auto all_ready = [&] {
    for (const int host : ready_events)
      if (!wait_for(host)) _exit(setup_failed);  // the host has reported the reason
  };
  for (int number = 1; number <= settings.hosts; ++number) {
    const Pipe from_host;
    const Pipe to_host;
    holder_pids.push_back(forked([&] { run_holder(settings, number, from_host.in, to_host.out); }));
    close(from_host.in);  // when the host ends, its pipe is closed
    close(to_host.out);
    ready_events.push_back(from_host.out);
    start_pipe.push_back(to_host.in);
  }
  all_ready();
  for (int k = 0; k < settings.hosts; ++k) {
    create_pair(port_name(k + 1), k + 1, settings.mtu, holder_pids[static_cast<std::size_t>(k)]);
    bring_up(port_name(k + 1));
    notify(start_pipe[static_cast<std::size_t>(k)]);
  }
  all_ready();
  for (const int pipe : ready_events) close(pipe);
  for (const int pipe : start_pipe) close(pipe);
  return holder_pids;
}

void make_front(const Settings& settings) {
  require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mount");
  require(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "mount of /proc");
  mount_memory("/dev/shm");
  require(sethostname("front", 5) == 0, "host name");
  std::string names = "127.0.0.1 localhost\n10.99.0." + std::to_string(front_number) + " front\n";
  for (int number = 1; number <= settings.hosts; ++number)
    names += "10.99.0." + std::to_string(number) + " " + host_name(number) + "\n";
  write_file("/dev/shm/hosts", names, "mount");
  require(mount("/dev/shm/hosts", "/etc/hosts", nullptr, MS_BIND, nullptr) == 0, "mount of /etc/hosts");
  disable_ipv6();
  bring_up("lo");
  create_pair(front_port, front_number, settings.mtu, 0);
  start_interface(front_number);
  bring_up(front_port);
}

// Raises the relay's priority as far as allowed, because a delayed frame delays the ranks.
void raise_priority() {
  prctl(PR_SET_TIMERSLACK, 1);
  sched_param first{};
  first.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) setpriority(PRIO_PROCESS, 0, -20);
}

pid_t start_relay(const Settings& settings) {
  std::vector<std::string> ports;
  for (int number = 1; number <= settings.hosts; ++number) ports.push_back(port_name(number));
  const Wire wire{settings.bits_per_second, std::llround(settings.delay_s * 1e9)};
  Relay relay(medium(settings.medium, wire, settings.hosts, {settings.faults}, settings.trunk), ports,
              front_port);
  return forked([&] {
    prctl(PR_SET_NAME, "wire");
    raise_priority();
    relay.run();
  });
}

pid_t start_program(const std::vector<std::string>& words, const std::vector<pid_t>& holder_pids) {
  std::string held;
  for (std::size_t k = 0; k < holder_pids.size(); ++k)
    held += (k == 0 ? "" : " ") + host_name(static_cast<int>(k) + 1) + "=" + std::to_string(holder_pids[k]);
  setenv(holders_variable, held.c_str(), 1);
  setenv("TMPDIR", temporary_folder, 1);
  return forked([&] {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& argument : words) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  });
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Reports the end of the relay or a host, without which ranks would wait for messages that never arrive.
// Other processes that end are orphans of the program.
void report_ended_part(pid_t ended_pid, int status, pid_t relay, const std::vector<pid_t>& holder_pids) {
  const std::string description = "its process ended with code " + std::to_string(exit_code_of(status));
  if (ended_pid == relay) throw Problem("wire", description);
  for (std::size_t k = 0; k < holder_pids.size(); ++k)
    if (ended_pid == holder_pids[k]) throw Problem("host " + host_name(static_cast<int>(k) + 1), description);
}

// Ends all other processes of the namespace, and waits for them: only then does their processor time count as
// that of hockney, and not of other programs.
void end_others() {
  kill(-1, SIGKILL);
  while (wait(nullptr) > 0) {
  }
}

// The first process of the process-id namespace: when it ends, the kernel kills all other processes.
[[noreturn]] void first_process(const Settings& settings, const std::vector<std::string>& words,
                                int lifeline) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{lifeline, POLLIN, 0};
  if (poll(&parent, 1, 0) != 0) _exit(setup_failed);  // the parent died before the previous line
  make_front(settings);
  const std::vector<pid_t> holder_pids = make_hosts(settings);
  const pid_t relay = start_relay(settings);
  const pid_t program = start_program(words, holder_pids);
  while (true) {
    int status = 0;
    const pid_t ended_pid = wait(&status);
    require(ended_pid > 0, "process");
    if (ended_pid == program) {
      end_others();
      _exit(exit_code_of(status));
    }
    report_ended_part(ended_pid, status, relay, holder_pids);
  }
}

}  // namespace

int run_inside(const Settings& settings, const std::vector<std::string>& words) {
  enter_namespaces();
  Pipe lifeline;
  const pid_t first = forked([&] {
    close(lifeline.in);
    first_process(settings, words, lifeline.out);
  });
  int status = 0;
  require(waitpid(first, &status, 0) == first, "process");
  return exit_code_of(status);
}

}  // namespace hockney::emulated
