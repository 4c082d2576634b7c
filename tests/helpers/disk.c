/* Stands between a process and its disk (LD_PRELOAD): writes down every change to the files under $DISK_ROOT
 * into $DISK_LOG, and lets a chosen one of them fail. `disk.py` builds it, and says what the log means. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE, TRUNCATE, SYNC, LINK, RENAME, UNLINK, MKDIR, RMDIR };
enum { FDS = 4096 };

static char root[PATH_MAX], watched[FDS];
static size_t root_length;
static int log_fd = -1, fault;
static long calls, fail_at;
static unsigned fail_kinds;
static int lasting;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Watch the files under `folder` from here on, and write a new log of them; NULL: no more, or no log. */
void disk_watch(const char *folder, const char *log) {
  if (log_fd >= 0) REAL(close)(log_fd);
  log_fd = -1, root_length = 0;
  if (!folder) return;
  snprintf(root, sizeof root, "%s/", folder);
  root_length = strlen(root);
  if (!log) return;
  int fd = REAL(open)(log, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 1000); /* out of the way of the numbers that programs get */
  REAL(close)(fd);
  if (log_fd < 0) _exit(97);
}

__attribute__((constructor)) static void begin(void) { disk_watch(getenv("DISK_ROOT"), getenv("DISK_LOG")); }

/* Let the call number `at` (from 1, of those whose kind is in the bit set `kinds`) fail with `error`; where
 * `last` is set, all later ones too, and the first one is a write cut short. at = 0: none.
 * error = -1: the process is killed there instead; where `last` is set, after half of a write. */
void disk_fail(long at, int error, unsigned kinds, int last) {
  calls = 0, fail_at = at, fault = error, fail_kinds = kinds, lasting = last;
}

long disk_calls(void) { return calls; }

static int failing(int kind) {
  if (!(fail_kinds >> kind & 1)) return 0;
  calls++;
  if (!fail_at || (lasting ? calls < fail_at : calls != fail_at)) return 0;
  if (fault < 0 && !(lasting && kind == WRITE && calls == fail_at)) kill(getpid(), SIGKILL);
  errno = fault;
  return 1;
}

static void put(const void *bytes, size_t n) {
  while (n) {
    ssize_t done = REAL(write)(log_fd, bytes, n);
    if (done < 0) _exit(98);
    bytes = (const char *)bytes + done, n -= done;
  }
}

static void note(int kind, int fd, int64_t at, const void *first, size_t n, const char *second) {
  if (log_fd < 0) return;
  int kept = errno;
  struct { int32_t kind, fd; int64_t at, n, m; } head = {kind, fd, at, n, second ? strlen(second) : 0};
  put(&head, sizeof head);
  put(first, n);
  if (second) put(second, head.m);
  errno = kept;
}

/* The path of `path`, as seen from the folder `at`, under the root; NULL where it is not there. */
static const char *under(int at, const char *path, char *buffer) {
  char folder[PATH_MAX], self[64];
  if (!root_length) return NULL;
  if (path[0] == '/') {
    snprintf(buffer, PATH_MAX, "%s", path);
  } else {
    ssize_t n = -1;
    if (at == AT_FDCWD) {
      if (getcwd(folder, sizeof folder)) n = strlen(folder);
    } else {
      snprintf(self, sizeof self, "/proc/self/fd/%d", at);
      n = readlink(self, folder, sizeof folder - 1);
    }
    if (n < 0) return NULL;
    folder[n] = 0;
    if (snprintf(buffer, PATH_MAX, "%s/%s", folder, path) >= PATH_MAX) return NULL;
  }
  if (!strncmp(buffer, root, root_length)) return buffer + root_length;
  return !strncmp(buffer, root, root_length - 1) && !buffer[root_length - 1] ? "" : NULL; /* the root itself */
}

static int is_watched(int fd) { return fd >= 0 && fd < FDS && watched[fd]; }

static int opened(int at, const char *path, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  const char *name = under(at, path, buffer);
  int made = name && flags & O_CREAT && REAL(faccessat)(at, path, F_OK, AT_SYMLINK_NOFOLLOW);
  if (made && failing(OPEN)) return -1;
  int fd = REAL(openat)(at, path, flags, mode);
  if (fd >= 0 && fd < FDS) watched[fd] = name != NULL;
  if (fd >= 0 && name) note(OPEN, fd, made | (flags & O_TRUNC ? 2 : 0), name, strlen(name), NULL);
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }

int close(int fd) {
  if (fd >= 0 && fd < FDS) watched[fd] = 0;
  return REAL(close)(fd);
}

/* Whether a write fails, and (in *n) how much of it is done where it is only cut short. */
static int refused(size_t *n) {
  if (!failing(WRITE)) return 0;
  if (!lasting || calls != fail_at || *n < 2) return fault < 0 ? kill(getpid(), SIGKILL) : 1;
  *n /= 2;
  return 0;
}

ssize_t write(int fd, const void *bytes, size_t n) {
  if (!is_watched(fd)) return REAL(write)(fd, bytes, n);
  if (refused(&n)) return -1;
  ssize_t done = REAL(write)(fd, bytes, n);
  if (done > 0) note(WRITE, fd, lseek(fd, 0, SEEK_CUR) - done, bytes, done, NULL);
  return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
  if (!is_watched(fd)) return REAL(pwrite64)(fd, bytes, n, at);
  if (refused(&n)) return -1;
  ssize_t done = REAL(pwrite64)(fd, bytes, n, at);
  if (done > 0) note(WRITE, fd, at, bytes, done, NULL);
  return done;
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) { return pwrite64(fd, bytes, n, at); }

/* Copies that bypass `write`: callers fall back to it. */
ssize_t sendfile(int to, int from, off_t *at, size_t n) {
  if (!is_watched(to)) return REAL(sendfile)(to, from, at, n);
  errno = ENOTSOCK;
  return -1;
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t n) { return sendfile(to, from, (off_t *)at, n); }

int ftruncate64(int fd, off64_t size) {
  if (is_watched(fd) && failing(TRUNCATE)) return -1;
  int result = REAL(ftruncate64)(fd, size);
  if (!result && is_watched(fd)) note(TRUNCATE, fd, size, NULL, 0, NULL);
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

#define SYNCING(name) \
  int name(int fd) { \
    if (is_watched(fd) && failing(SYNC)) return -1; \
    int result = REAL(name)(fd); \
    if (!result && is_watched(fd)) note(SYNC, fd, 0, NULL, 0, NULL); \
    return result; \
  }
SYNCING(fsync)
SYNCING(fdatasync)

/* One change of names: not watched, failing, or done and noted. */
#define NAMED(kind, at, path, call) \
  char buffer[PATH_MAX]; \
  const char *name = under(at, path, buffer); \
  if (name && failing(kind)) return -1; \
  int result = call; \
  if (!result && name) note(kind, -1, 0, name, strlen(name), NULL); \
  return result;

int unlink(const char *path) { NAMED(UNLINK, AT_FDCWD, path, REAL(unlink)(path)) }
int unlinkat(int at, const char *path, int flags) {
  NAMED(flags & AT_REMOVEDIR ? RMDIR : UNLINK, at, path, REAL(unlinkat)(at, path, flags))
}
int rmdir(const char *path) { NAMED(RMDIR, AT_FDCWD, path, REAL(rmdir)(path)) }
int mkdir(const char *path, mode_t mode) { NAMED(MKDIR, AT_FDCWD, path, REAL(mkdir)(path, mode)) }
int mkdirat(int at, const char *path, mode_t mode) { NAMED(MKDIR, at, path, REAL(mkdirat)(at, path, mode)) }

#define TWICE_NAMED(kind, at, from, to_at, to, call) \
  char one[PATH_MAX], two[PATH_MAX]; \
  const char *first = under(at, from, one), *second = under(to_at, to, two); \
  if (second && failing(kind)) return -1; \
  int result = call; \
  if (!result && first && second) note(kind, -1, 0, first, strlen(first), second); \
  return result;

int link(const char *from, const char *to) {
  TWICE_NAMED(LINK, AT_FDCWD, from, AT_FDCWD, to, REAL(link)(from, to))
}
int linkat(int at, const char *from, int to_at, const char *to, int flags) {
  TWICE_NAMED(LINK, at, from, to_at, to, REAL(linkat)(at, from, to_at, to, flags))
}
int rename(const char *from, const char *to) {
  TWICE_NAMED(RENAME, AT_FDCWD, from, AT_FDCWD, to, REAL(rename)(from, to))
}
int renameat(int at, const char *from, int to_at, const char *to) {
  TWICE_NAMED(RENAME, at, from, to_at, to, REAL(renameat)(at, from, to_at, to))
}
