// Whether the disk answers: a log, a spool or a backlog on one that hangs waits in the few threads of Node for files,
// and no call of it says so.
import { stat } from 'node:fs';
import { HeartWatch } from './heartbeat.js';

const ASK_MS = 500;

export class DiskWatch {
  readonly #watch: HeartWatch;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param folder that is asked for; whether it is there is not the question
   * @param tickMs of the watch, shorter in tests
   */
  constructor(folder: string, look: (path: string, done: () => void) => void = stat, tickMs?: number) {
    this.#watch = new HeartWatch(() => {}, tickMs);
    const beats = new Int32Array(this.#watch.begin());
    let isAsking = false;
    const ask = (): void => {
      if (isAsking) return;
      isAsking = true;
      look(folder, () => {
        isAsking = false;
        Atomics.add(beats, 0, 1);
      });
    };
    this.#timer = setInterval(ask, Math.min(ASK_MS, (tickMs ?? ASK_MS) / 2));
    this.#timer.unref();
  }

  /** A sentence for people while it does not answer. */
  get warning(): string | undefined {
    const { silentS } = this.#watch;
    return silentS === undefined
      ? undefined
      : `the disk of the data folder has not answered for ${silentS} s`;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watch.end();
  }
}
