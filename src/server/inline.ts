// Where small work ends and large work begins: what is answered in the callback that brings it, by the kernel of the
// main thread, and what goes to the pool.

/**
 * Points of one stream frame. The kernel takes about a millisecond for these, no longer than a full turn of single
 * requests; a trip to the pool costs some 50 to 100 µs of the same thread, a tenth of that work, and more for less.
 */
export const INLINE_POINTS = 4096;

/** Bytes of a block of a /bulk body, some 500 rows: a small body, or one that comes slowly. */
export const INLINE_BLOCK_BYTES = 16 * 1024;

/** Bytes of a JSON frame or batch, some 2,000 points: reading and writing text costs about as much again as the kernel. */
export const INLINE_JSON_BYTES = 64 * 1024;
