// gzip on the way in and on the way out of a /bulk body. Both halves stop when what follows them is full.
import { constants, createGunzip, createGzip } from 'node:zlib';

/** A body may grow by this much while it is unpacked, once it is over the first MiB: more is an attack. */
const MAX_RATIO = 200;
const FREE_BYTES = 1024 * 1024;

export class GzipBodyError extends Error {
  override readonly name = 'GzipBodyError';
}

/** What a stage tells its owner. */
export interface StageEvents {
  data(bytes: Uint8Array): void;
  end(): void;
  failed(error: Error): void;
  /** There is room again after `write` returned false. */
  room(): void;
}

export interface Stage {
  /** Takes bytes, which must not change until `taken` is called; false asks to wait for `room`. */
  write(bytes: Uint8Array, taken?: () => void): boolean;
  end(): void;
  /** Stops and restarts what comes out. */
  pause(): void;
  resume(): void;
  close(): void;
}

export function gunzipStage(events: StageEvents): Stage {
  const gunzip = createGunzip({ chunkSize: 128 * 1024 });
  let outBytes = 0;
  gunzip.on('data', (bytes: Buffer) => {
    outBytes += bytes.length;
    if (outBytes > FREE_BYTES && outBytes > MAX_RATIO * gunzip.bytesWritten) {
      gunzip.destroy();
      events.failed(new GzipBodyError(`the body unpacks to more than ${MAX_RATIO} times its size`));
    } else {
      events.data(bytes);
    }
  });
  gunzip.on('end', events.end);
  gunzip.on('drain', events.room);
  gunzip.on('error', () => events.failed(new GzipBodyError('the body is not valid gzip')));
  return stageOf(gunzip);
}

export function gzipStage(events: StageEvents): Stage {
  // Flushed block by block, so that a peer gets the answer to what it has sent; fast rather than small.
  const gzip = createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
  gzip.on('data', events.data);
  gzip.on('end', events.end);
  gzip.on('drain', events.room);
  gzip.on('error', events.failed);
  return stageOf(gzip);
}

function stageOf(stream: ReturnType<typeof createGunzip>): Stage {
  return {
    write: (bytes, taken) => stream.write(bytes, taken),
    end: () => stream.end(),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.destroy(),
  };
}
