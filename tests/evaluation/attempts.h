// What a candidate may try, for test_isolation.py: each function is true where it succeeded.
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include <thread>

static bool connects_to(int family, const void *address, socklen_t length) {
  const int line = socket(family, SOCK_STREAM, 0);
  if (line < 0) return false;
  const bool done = connect(line, static_cast<const sockaddr *>(address), length) == 0;
  close(line);
  return done;
}

static bool connects(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connects_to(AF_INET, &address, sizeof address);
}

static bool connects_abstract(const char *name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path + 1, name);
  return connects_to(AF_UNIX, &address, offsetof(sockaddr_un, sun_path) + 1 + strlen(name));
}

static bool finds_segment(int key) { return shmget(key, 0, 0) >= 0; }

static bool reads(const std::string &path) {
  char text;
  const int file = open(path.c_str(), O_RDONLY);
  if (file < 0) return false;
  const bool done = read(file, &text, 1) == 1;
  close(file);
  return done;
}

static std::string parents_environment() { return "/proc/" + std::to_string(getppid()) + "/environ"; }

// In place through a mapping: growing is refused by RLIMIT_FSIZE anyway.
static bool overwrites(const char *path) {
  const int file = open(path, O_RDWR);
  if (file < 0) return false;
  void *memory = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return false;
  *static_cast<char *>(memory) = 'S';
  munmap(memory, 1);
  return true;
}

static bool lists_folder_of(std::string path) {
  DIR *folder = opendir(dirname(path.data()));
  if (folder) closedir(folder);
  return folder;
}

static bool executes() { return execl("/bin/sh", "sh", "-c", "exit 7", nullptr) == 0; }

static bool forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
  return child > 0;
}

static bool signals_parent() { return kill(getppid(), 0) == 0; }

static bool limits_parent() {
  rlimit limit;
  return prlimit(getppid(), RLIMIT_CORE, nullptr, &limit) == 0;
}

// Sets what is set already.
static bool moves_parent() {
  cpu_set_t set;
  return sched_getaffinity(getppid(), sizeof set, &set) == 0 &&
         sched_setaffinity(getppid(), sizeof set, &set) == 0;
}

static bool team_of_threads() {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members += 1;
  return members == 2;
}

static bool has_random_numbers() { return reads("/dev/urandom"); }

static bool knows_processors() {
  return std::thread::hardware_concurrency() >= 1 && reads("/proc/cpuinfo") &&
         reads("/sys/devices/system/cpu/online");
}
