// Bodies that are collected before any work, as they come or unpacked from gzip. The bound holds for both sizes, and is
// counted as held before anything is unpacked.
import { type Gunzip, gunzip, gunzipSync } from 'node:zlib';
import type { Exchange } from './exchange.js';
import { fail, failTooLarge } from './router.js';

/** Larger bodies are unpacked in another thread. */
const INLINE_BYTES = 65_536;

/** Result of zlib with the option `info`, which its types do not know. */
interface Unpacked {
  readonly buffer: Uint8Array;
  readonly engine: Gunzip;
}

/**
 * Calls `work` with the whole body, valid during that call. A body that is larger than the bound, or unpacks to more,
 * is answered 413; one that is not a whole gzip 400; one of another Content-Encoding 415.
 */
export function readWhole(x: Exchange, limitBytes: number, work: (body: Uint8Array) => void): void {
  const encoding = x.head.contentEncoding.trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== '' && encoding !== 'identity') {
    fail(x, 415, 'the Content-Encoding of a body must be gzip, or none');
    return;
  }
  const tooLarge = (): void => failTooLarge(x, limitBytes);
  const read = isGzip ? (body: Uint8Array): void => unpack(x, body, limitBytes, work) : work;
  x.body.read(limitBytes, tooLarge, read);
}

function unpack(x: Exchange, body: Uint8Array, limitBytes: number, work: (body: Uint8Array) => void): void {
  x.hold(limitBytes);
  const { length } = body;
  const options = { maxOutputLength: limitBytes, info: true };
  const unpacked = (error: NodeJS.ErrnoException | null, result: unknown): void => {
    if (x.state === 'over') return;
    if (error?.code === 'ERR_BUFFER_TOO_LARGE') {
      failTooLarge(x, limitBytes);
      return;
    }
    const { buffer, engine } = (result ?? {}) as Partial<Unpacked>;
    // Zlib ends without an error at a zero byte after a member, and leaves what follows.
    if (error || buffer === undefined || engine?.bytesWritten !== length)
      fail(x, 400, 'the body is not valid gzip', {
        faults: [{ parameter: 'body', message: 'is not valid gzip' }],
      });
    else work(buffer);
  };
  if (limitBytes > INLINE_BYTES) {
    // The body, and the size of its view, hold in this turn only.
    const kept = body.slice();
    gunzip(kept, options, (error, result) => x.guard(() => unpacked(error, result)));
    return;
  }
  let result: unknown;
  try {
    result = gunzipSync(body, options);
  } catch (error) {
    unpacked(error as NodeJS.ErrnoException, undefined);
    return;
  }
  unpacked(null, result);
}
