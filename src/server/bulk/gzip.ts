// Decompresses /bulk bodies and compresses their answers. A stage is paused while its successor accepts no more.

import { constants, createGunzip, createGzip } from 'node:zlib';
import type { Exchange } from '../http/exchange.js';
import { AnsweredError } from '../transport/limits.js';

/** Highest ratio of a decompressed body over 1 MiB; beyond it the body counts as an attack. */
const MAX_RATIO = 200;
const FREE_BYTES = 1024 * 1024;

export class GzipBodyError extends AnsweredError {
  override readonly name = 'GzipBodyError';

  constructor(message: string) {
    super(message, { status: 400, close: true });
  }
}

/** Callbacks of a stage. The exchange handles what they throw, and errors of the stage itself. */
export interface StageEvents {
  data(bytes: Uint8Array): void;
  end(): void;
  /** Called when the stage accepts bytes again after `write` returned false. */
  drain(): void;
}

export interface Stage {
  /** Accepts bytes, which must not change until `taken` is called; false asks the caller to wait for `drain`. */
  write(bytes: Uint8Array, taken?: () => void): boolean;
  end(): void;
  /** Stops the output. */
  pause(): void;
  resume(): void;
  close(): void;
  /** Bytes that wait in the stage. */
  readonly waitingBytes: number;
}

/** Decompresses a body. Fails with a GzipBodyError if it is not valid gzip or its ratio is too high. */
export function gunzipStage(x: Exchange, events: StageEvents): Stage {
  const gunzip = createGunzip({ chunkSize: 128 * 1024 });
  let outBytes = 0;
  const data = (bytes: Uint8Array): void => {
    outBytes += bytes.length;
    if (outBytes > FREE_BYTES && outBytes > MAX_RATIO * gunzip.bytesWritten) {
      gunzip.destroy();
      throw new GzipBodyError(`the body unpacks to more than ${MAX_RATIO} times its size`);
    }
    events.data(bytes);
  };
  gunzip.on('error', () => x.reject(new GzipBodyError('the body is not valid gzip')));
  let inBytes = 0;
  // Zlib ends without an error at a zero byte after a member, and leaves what follows.
  const end = (): void => {
    if (gunzip.writableEnded && inBytes === gunzip.bytesWritten) events.end();
    else throw new GzipBodyError('the body has bytes after its gzip data');
  };
  const stage = stageOf(x, gunzip, { ...events, data, end });
  return {
    ...stage,
    write: (bytes, taken) => {
      inBytes += bytes.length;
      return stage.write(bytes, taken);
    },
  };
}

/** Compresses an answer: fast rather than small, and flushed after each write, so that no row waits for later ones. */
export function gzipStage(x: Exchange, events: StageEvents): Stage {
  const gzip = createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
  gzip.on('error', (error) => x.reject(error));
  return stageOf(x, gzip, events);
}

function stageOf(x: Exchange, stream: ReturnType<typeof createGunzip>, events: StageEvents): Stage {
  stream.on('data', (bytes: Buffer) => x.guard(() => events.data(bytes)));
  stream.on('end', () => x.guard(() => events.end()));
  stream.on('drain', () => x.guard(() => events.drain()));
  return {
    write: (bytes, taken) => stream.write(bytes, taken),
    end: () => stream.end(),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.destroy(),
    get waitingBytes() {
      return stream.writableLength + stream.readableLength;
    },
  };
}
