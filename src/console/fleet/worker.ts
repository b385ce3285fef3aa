// The worker of the fleet: moves the vehicles, sends their positions over the stream, and reports the answers to the
// page. It ends by itself when its time is over.
import type { HexcodesClientError } from '../../hexcodes/client/errors.js';
import {
  type SocketEvents,
  type StreamSocket,
  standardSocketOpener,
  type WebSocketConstructor,
} from '../../hexcodes/client/stream/socket.js';
import { answerFrame } from '../../hexcodes/wire/frames/answer-frame.js';
import { MAX_FRAME_BYTES, MAX_FRAME_POINTS, RECORD_BYTES } from '../../hexcodes/wire/limits.js';
import { readLand } from '../map/shapes.js';
import { buffersOf, NOWHERE, PointList, type PointsToDraw } from '../points/drawn-points.js';
import { bytesOf, type KernelPaths, kernelOf } from '../shell/worker-kernel.js';
import {
  type FleetNews,
  type FleetRefusal,
  type FleetState,
  FleetStream,
  type FleetTask,
} from './fleet-stream.js';
import { latticeAround, Vehicles } from './vehicles.js';

const NEWS_MS = 250;
/** Pause before a lost connection is reopened. */
const PAUSE_MS = 1000;
/** Factor by which the vehicles' clock is faster than real time, so that their movement is visible. */
const HASTE = 4;
/** Time for the last answers after the end. */
const LAST_ANSWERS_MS = 2000;
const SHOWN_CODES = 5;
/** Colours of provinces, also used for the first groups of codes. */
const COLORS = 34;
/** The first group after the province: bytes of `6GHP4` in `HN-6GHP4-83RFR`. */
const GROUP_BYTES = 5;
const HYPHEN = 45;
/** Close codes of the service after which a retry is pointless: docs/stream.md. */
const FINAL_CODES = new Map<number, FleetRefusal>([
  [4001, 'denied'],
  [4002, 'quota'],
]);

const REASONS = new Map<string, FleetRefusal>([
  ['REQUEST_DENIED', 'denied'],
  ['OVER_QUERY_LIMIT', 'quota'],
]);

addEventListener('message', ({ data }: MessageEvent<FleetTask | 'stop'>) => {
  if (data === 'stop') fleet?.end();
  else start(data).catch(reportError);
});

let fleet: Fleet | undefined;

async function start(task: FleetTask): Promise<void> {
  const land = readLand(await bytesOf(task.land));
  fleet = new Fleet(task, new Vehicles(task.vehicles, latticeAround(task.lat, task.lng, land)));
}

class Fleet {
  readonly #stream: FleetStream;
  readonly #endMs: number;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #socket: StreamSocket | undefined;
  #state: FleetState = 'opening';
  #reason: FleetRefusal = 'broken';
  #movedMs = performance.now();
  #isEnding = false;

  constructor(
    private readonly task: FleetTask,
    private readonly vehicles: Vehicles,
  ) {
    this.#stream = new FleetStream(task.vehicles);
    this.#endMs = performance.now() + task.seconds * 1000;
    this.#timers.push(
      setInterval(() => this.#report(), 1000 / task.reportsPerSecond),
      setInterval(() => this.#tell(), NEWS_MS),
    );
    this.#open();
  }

  /** Stops sending, and closes after the last answers. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const lateMs = performance.now() + LAST_ANSWERS_MS;
    const close = (): void => {
      if (this.#stream.unanswered > 0 && performance.now() < lateMs && this.#socket !== undefined) return;
      this.#close('ended');
    };
    this.#timers.push(setInterval(close, 20));
  }

  #open(): void {
    const { url, key, paths } = this.task;
    const events: SocketEvents = {
      text: (ready) => {
        this.#stream.open(ready);
        this.#state = 'running';
      },
      binary: (bytes) => {
        try {
          this.#stream.answer(bytes, performance.now());
          this.#send(performance.now());
        } catch (error) {
          console.error(error);
          this.#refuse('broken');
        }
      },
      refused: (error) => this.#refused(error),
      closed: (code) => {
        const reason = FINAL_CODES.get(code);
        if (reason !== undefined) this.#refuse(reason);
        else this.#lose();
      },
    };
    if (url === undefined) {
      void openKernelSocket(paths, events).then((socket) => {
        this.#socket = socket;
      }, reportError);
      return;
    }
    const open = standardSocketOpener(WebSocket as unknown as WebSocketConstructor, fetch);
    this.#socket = open(new URL(url), key === '' ? undefined : key, events);
  }

  /** An absent service may return; one that rejects the client will do so again. */
  #refused(error: HexcodesClientError): void {
    if (error.code === 'NETWORK' || error.code === 'UNAVAILABLE') this.#lose();
    else this.#refuse(REASONS.get(error.code) ?? 'broken');
  }

  #refuse(reason: FleetRefusal): void {
    this.#reason = reason;
    this.#close('refused');
  }

  #lose(): void {
    this.#socket = undefined;
    this.#stream.lose();
    this.#state = 'lost';
    if (!this.#isEnding) setTimeout(() => this.#isEnding || this.#open(), PAUSE_MS);
  }

  #close(state: FleetState): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#isEnding = true;
    this.#socket?.close(1000);
    this.#state = state;
    this.#tell();
  }

  #report(): void {
    const nowMs = performance.now();
    this.vehicles.move(((nowMs - this.#movedMs) / 1000) * HASTE);
    this.#movedMs = nowMs;
    if (nowMs >= this.#endMs) this.end();
    if (this.#isEnding || this.#state !== 'running') return;
    this.#stream.begin();
    this.#send(nowMs);
  }

  #send(nowMs: number): void {
    if (this.#isEnding) return;
    for (const frame of this.#stream.send(this.vehicles.pairs, nowMs)) this.#socket?.send(frame);
  }

  #tell(): void {
    const nowMs = performance.now();
    const points = this.#drawn();
    const shown = Array.from({ length: Math.min(SHOWN_CODES, this.task.vehicles) }, (_, vehicle) => vehicle);
    const news: FleetNews = {
      state: this.#state,
      reason: this.#reason,
      figures: this.#stream.figures(nowMs),
      secondsLeft: Math.max(0, (this.#endMs - nowMs) / 1000),
      points,
      codes: shown.map((vehicle) => this.#stream.codeOf(vehicle)),
    };
    postMessage(news, { transfer: buffersOf(points) });
  }

  /** The vehicles whose position is answered. */
  #drawn(): PointsToDraw {
    const { answered, records } = this.#stream;
    const points = new PointList();
    for (let vehicle = 0; vehicle < this.task.vehicles; vehicle++) {
      const color = colorOf(records, vehicle * RECORD_BYTES);
      points.add(answered[2 * vehicle]!, answered[2 * vehicle + 1]!, color, vehicle);
    }
    return points.take();
  }
}

/** The colour of the first group of a code. */
function colorOf(records: Uint8Array, at: number): number {
  if (records[at] === 0) return NOWHERE;
  const group = records.indexOf(HYPHEN, at) + 1;
  let hash = 0;
  for (let byte = group; byte < group + GROUP_BYTES; byte++) hash = (hash * 31 + records[byte]!) % 65_521;
  return hash % COLORS;
}

// Stands in for the service where there is none, as in the demo: the kernel of the worker answers the frames.

/** As the service says of itself. */
const READY = JSON.stringify({
  type: 'ready',
  format: 1,
  max_frame_bytes: MAX_FRAME_BYTES,
  max_points: MAX_FRAME_POINTS,
  window: 16,
  window_bytes: 4 * 2 ** 20,
});

async function openKernelSocket(paths: KernelPaths, events: SocketEvents): Promise<StreamSocket> {
  const kernel = await kernelOf(paths);
  let isOpen = true;
  // Events follow the call, as of a socket.
  setTimeout(() => events.text(READY));
  const end = (): void => {
    isOpen = false;
  };
  return {
    send: (frame) => void setTimeout(() => isOpen && events.binary(answerFrame(kernel, frame))),
    close: end,
    drop: end,
  };
}
