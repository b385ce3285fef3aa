// The heartbeat of a worker thread: the thread beats in shared memory while it has nothing to do and whenever it has
// done something; the service watches the beats, and knows of a thread that hangs, in a loop or in a call that never
// returns.
import { stat } from 'node:fs';

const BEAT_MS = 250;
const TICK_MS = 1000;
/** Ticks without a beat after which a thread counts as silent, and after which another takes its place. */
const SILENT_TICKS = 10;
const HUNG_TICKS = 20;
/** Ticks until the first beat, before which a thread loads its modules: on a busy machine that takes its time. */
const STARTING_TICKS = 120;

/** In the thread. */
export class Heartbeat {
  readonly #beats: Int32Array;
  #works = 0;

  constructor(shared: SharedArrayBuffer) {
    this.#beats = new Int32Array(shared);
    setInterval(() => {
      if (this.#works === 0) this.beat();
    }, BEAT_MS).unref();
  }

  /** Carries out work, without a beat until it is over: work that never ends shows. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#works++;
    try {
      return await work();
    } finally {
      this.#works--;
      this.beat();
    }
  }

  /** To be called where work that is long has come forward. */
  beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }
}

/** In the service: watches one thread after the other. */
export class HeartbeatWatch {
  #beats = new Int32Array(new SharedArrayBuffer(4));
  #seen = 0;
  /** Ticks of this event loop, so that a process that was stopped for a while suspects nobody. */
  #silentTicks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param hung called once for each thread that hangs */
  constructor(
    private readonly hung: () => void,
    private readonly tickMs = TICK_MS,
  ) {}

  /** @returns the memory in which a thread that is started now shall beat */
  begin(): SharedArrayBuffer {
    this.end();
    const shared = new SharedArrayBuffer(4);
    this.#beats = new Int32Array(shared);
    this.#seen = 0;
    this.#timer = setInterval(() => this.#look(), this.tickMs);
    this.#timer.unref();
    return shared;
  }

  /** No thread is watched any more. */
  end(): void {
    clearInterval(this.#timer);
    this.#silentTicks = 0;
  }

  /** Seconds without a beat, once they are too many. */
  get silentS(): number | undefined {
    return this.#silentTicks < SILENT_TICKS ? undefined : (this.#silentTicks * this.tickMs) / 1000;
  }

  #look(): void {
    const beats = Atomics.load(this.#beats, 0);
    this.#silentTicks = beats === this.#seen ? this.#silentTicks + 1 : 0;
    this.#seen = beats;
    if (this.#silentTicks === (beats === 0 ? STARTING_TICKS : HUNG_TICKS)) this.hung();
  }
}

// Whether the disk answers: a log, a spool or a backlog on one that hangs waits in the few threads of Node for files,
// and no call of it says so.

const ASK_MS = 500;

export class DiskWatch {
  readonly #watch: HeartbeatWatch;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param folder that is looked at; it may be absent
   * @param tickMs of the watch, shorter in tests
   */
  constructor(folder: string, look: (path: string, done: () => void) => void = stat, tickMs?: number) {
    this.#watch = new HeartbeatWatch(() => {}, tickMs);
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
