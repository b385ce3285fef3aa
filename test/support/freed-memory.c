// LD_PRELOAD for tests of native code: a block that is freed is overwritten, and held back until HELD later ones are
// freed. Whatever still uses it then reads bytes that are not an address, instead of the old ones, which would look right.
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

extern void __libc_free(void *block);

/** Blocks of connections, requests and their callbacks are among these; larger ones are given back at once. */
enum { LEAST_BYTES = 32, MOST_BYTES = 4096, HELD = 20000, PATTERN = 0x6b };

static _Atomic(void *) held[HELD];
static atomic_uint count;

void free(void *block) {
  if (block == NULL) return;
  size_t bytes = malloc_usable_size(block);
  if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
    __libc_free(block);
    return;
  }
  memset(block, PATTERN, bytes);
  void *oldest = atomic_exchange(&held[atomic_fetch_add(&count, 1) % HELD], block);
  if (oldest != NULL) __libc_free(oldest);
}
