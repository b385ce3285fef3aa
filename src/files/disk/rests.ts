// Rests of a pipe: moments at which rows that have come must be converted, as the next ones may wait for their answers.

/** Longest time that a row waits for further ones. */
const MAX_WAIT_MS = 100;
/** Longest wait of a row before the first rest: the first rows are read together, to find their columns. */
const MAX_FIRST_WAIT_MS = 1000;

const REST = new Uint8Array(0);

/** Whether a chunk stands for a rest: what has come whole is to be converted and written. */
export const isRest = (chunk: Uint8Array): boolean => chunk.length === 0;

/** Chunks with an empty one where the input rests, or where bytes have waited for longer than a row may. */
export async function* withRests(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let maxWaitMs = MAX_FIRST_WAIT_MS;
  // When the first bytes came after the last rest.
  let heldSince = -1;
  let next = iterator.next();
  for (;;) {
    const now = performance.now();
    const waitMs = Math.min(MAX_WAIT_MS, heldSince + maxWaitMs - now);
    const result = heldSince < 0 ? await next : await within(next, Math.max(0, waitMs));
    if (result === null) {
      heldSince = -1;
      maxWaitMs = MAX_WAIT_MS;
      yield REST;
      continue;
    }
    if (result.done === true) return;
    if (heldSince < 0) heldSince = performance.now();
    if (!isRest(result.value)) yield result.value;
    next = iterator.next();
  }
}

/** The value of a promise; null where it needs longer. */
async function within<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, waitMs, null);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** An object that ends at the end of a line, and a line with a digit. */
const WHOLE_OBJECT = /[}\]],?[ \t\r]*\n/;
const ROW_OF_NUMBERS = /\d[^\n]*\n/;
const SECOND_LINE = /\n[^\n]+\n/;
/** Before each object of a sequence (RFC 8142). */
const RECORD_SEPARATOR = 0x1e;

/** Whether the beginning of a text shows its first row: a header alone does not. @param hasHeader of CSV */
export function showsRow(head: Uint8Array, hasHeader: boolean): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString();
  if (head.includes(RECORD_SEPARATOR) || text.trimStart().startsWith('{')) return WHOLE_OBJECT.test(text);
  return hasHeader ? ROW_OF_NUMBERS.test(text) || SECOND_LINE.test(text) : text.includes('\n');
}
