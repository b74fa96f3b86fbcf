"""Memory that runs out on request, in a process of a test alone: a library that is loaded before the C library."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = r"""
/* fail_at(n, least, often): of the calls of this thread that follow and ask for at least `least` bytes the n-th one, and
   so many in all, get nothing; n = 0: none fails. asked(): how many have asked since; from then on all get what they ask
   for. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define OWN static __thread __attribute__((tls_model("initial-exec")))
OWN long left = 0, count = 0, times = 0;
OWN int armed = 0;
OWN size_t least = 0;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void fail_at(long n, size_t from, long often) { left = n; count = 0; least = from; times = often; armed = 1; }
long asked(void) { armed = 0; return count; }

static int refused(size_t size) {
    if (!armed || size < least) return 0;
    count++;
    if (left > 0 && count >= left && count < left + times) { errno = ENOMEM; return 1; }
    return 0;
}

void *malloc(size_t size) { return refused(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return refused(n * size) ? NULL : __libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return refused(size) ? NULL : __libc_realloc(block, size); }
void *aligned_alloc(size_t line, size_t size) { return refused(size) ? NULL : __libc_memalign(line, size); }
int posix_memalign(void **out, size_t line, size_t size) {
    void *found = refused(size) ? NULL : __libc_memalign(line, size);
    if (found == NULL) return ENOMEM;
    *out = found;
    return 0;
}
"""


def compiler():
    """A C compiler for glibc, or None."""
    found = shutil.which("cc") or shutil.which("gcc")
    return found if sys.platform == "linux" and os.confstr("CS_GNU_LIBC_VERSION") else None


def run(folder, program, *arguments):
    """A Python program with this memory -> what it writes; an AssertionError with its errors if it fails."""
    source, library = Path(folder) / "failing_malloc.c", Path(folder) / "failing_malloc.so"
    source.write_text(SOURCE)
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONFAULTHANDLER": "1",
    }
    command = [sys.executable, "-W", "ignore", str(program), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-1500:]} {done.stderr[-6000:]}"
    return done.stdout


def library():
    """fail_at and asked, in a process that `run` has begun."""
    found = ctypes.CDLL(None)
    found.asked.restype = ctypes.c_long
    found.fail_at.argtypes = [ctypes.c_long, ctypes.c_size_t, ctypes.c_long]
    return found
