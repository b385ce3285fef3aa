// The fleet's side of the stream, without sockets and timers: unanswered frames, and the content of answers.
// Positions are useful only while they are new, so a rejected or lost frame is not sent again.
import { StreamCredit, type StreamLimits } from '../../hexcodes/client/stream/credit.js';
import {
  answersOf,
  type Bytes,
  EncodedTexts,
  encodeRequest,
  readAnswer,
  setSeq,
} from '../../hexcodes/client/stream/frames.js';
import { RECORD_BYTES, RECORD_TEXT_BYTES } from '../../hexcodes/wire/limits.js';
import type { PointsToDraw } from '../points/drawn-points.js';
import type { KernelPaths } from '../shell/worker-kernel.js';

// Messages between the panel of the fleet and its worker.

export interface FleetTask {
  /** Address of the stream, without the key; undefined: the kernel of the worker answers. */
  readonly url: string | undefined;
  readonly paths: KernelPaths;
  readonly key: string;
  /** Address of the land line. */
  readonly land: string;
  readonly lat: number;
  readonly lng: number;
  readonly vehicles: number;
  readonly reportsPerSecond: number;
  readonly seconds: number;
}

/** Counts of answers received over the socket, not estimates. */
export interface FleetFigures {
  /** All answered points. */
  readonly points: number;
  /** Points answered in the last second. */
  readonly pointsPerSecond: number;
  /** Vehicles whose code changed in the last second. */
  readonly changesPerSecond: number;
  /** Points that were answered without a code. */
  readonly failed: number;
  /** Points that the service rejected, over a limit of the key or overloaded. */
  readonly refused: number;
  /** Unanswered frames. */
  readonly unanswered: number;
  /** Most unanswered frames. */
  readonly window: number;
  /** Median and longest time from a frame to its answer, in the last second; undefined without an answer. */
  readonly medianMs: number | undefined;
  readonly longestMs: number | undefined;
}

export type FleetState =
  /** The stream is being opened. */
  | 'opening'
  | 'running'
  /** The connection is lost; another is tried. */
  | 'lost'
  /** The time is over, or the visitor stopped it. */
  | 'ended'
  /** The service does not want this client. */
  | 'refused';

/** The key is rejected or its quota is used up; or the answers are not those of a service. */
export type FleetRefusal = 'denied' | 'quota' | 'broken';

export interface FleetNews {
  readonly state: FleetState;
  /** Why the service refuses. */
  readonly reason: FleetRefusal;
  readonly figures: FleetFigures;
  readonly secondsLeft: number;
  /** Answered positions, coloured by the first group of their codes. */
  readonly points: PointsToDraw;
  /** The latest codes of the first vehicles; empty before their first answer. */
  readonly codes: readonly string[];
}

/** The frame size that costs the service least a point. */
export const FRAME_POINTS = 4096;
const RESOLUTION = 13;
const HEADER_BYTES = 16;
const SECOND_MS = 1000;

interface SentFrame {
  readonly seq: number;
  readonly frame: Bytes;
  /** Vehicle of its first point. */
  readonly first: number;
  readonly count: number;
  readonly sentMs: number;
}

interface Counted {
  readonly atMs: number;
  readonly points: number;
  readonly changes: number;
  readonly tookMs: number;
}

export class FleetStream {
  /** Latest records of the vehicles, 20 bytes each as the stream answers them; NUL before the first answer. */
  readonly records: Uint8Array;
  /** Positions of these answers, pairs of degrees; NaN before the first. */
  readonly answered: Float64Array;
  #limits: StreamLimits | undefined;
  #sent: SentFrame[] = [];
  #sentBytes = 0;
  #seq = 0;
  /** Vehicles still to be sent, from `#next` on. */
  #due = 0;
  #next = 0;
  #lastSecond: Counted[] = [];
  #points = 0;
  #failed = 0;
  #refused = 0;

  constructor(readonly vehicles: number) {
    this.records = new Uint8Array(vehicles * RECORD_BYTES);
    this.answered = new Float64Array(2 * vehicles).fill(Number.NaN);
  }

  /** Reads the ready frame of a connection, before which nothing is sent. */
  open(ready: string): void {
    const credit = new StreamCredit();
    credit.open(ready);
    this.#limits = credit.limits;
  }

  /** Handles a lost connection and its unanswered frames. */
  lose(): void {
    this.#limits = undefined;
    this.#sent = [];
    this.#sentBytes = 0;
  }

  get unanswered(): number {
    return this.#sent.length;
  }

  /** Every vehicle is due again. Those still waiting keep their position. */
  begin(): void {
    this.#due = this.vehicles;
  }

  /** Request frames for due vehicles, as far as the window allows. */
  send(pairs: Float64Array, nowMs: number): Bytes[] {
    const frames: Bytes[] = [];
    while (this.#due > 0) {
      const first = this.#next;
      const count = Math.min(FRAME_POINTS, this.vehicles - first, this.#due);
      const bytes = HEADER_BYTES + 16 * count;
      if (!this.#hasSpace(bytes)) break;
      const frame = encodeRequest(pairs, first, count, RESOLUTION, false);
      const seq = this.#seq;
      this.#seq = (seq + 1) >>> 0;
      setSeq(frame, seq);
      this.#sent.push({ seq, frame, first, count, sentMs: nowMs });
      this.#sentBytes += bytes;
      this.#due -= count;
      this.#next = (first + count) % this.vehicles;
      frames.push(frame);
    }
    return frames;
  }

  #hasSpace(bytes: number): boolean {
    if (this.#limits === undefined) return false;
    const { windowFrames, windowBytes } = this.#limits;
    return (
      this.#sent.length === 0 || (this.#sent.length < windowFrames && this.#sentBytes + bytes <= windowBytes)
    );
  }

  /**
   * Counts an answer.
   * @throws HexcodesClientError where it is not one, Error where it answers another frame
   */
  answer(bytes: Uint8Array, nowMs: number): void {
    const header = readAnswer(bytes);
    const sent = this.#sent.shift();
    if (sent === undefined || sent.seq !== header.seq) throw new Error('an answer names another frame');
    this.#sentBytes -= sent.frame.length;
    const answers = header.frameStatus === 0 ? answersOf(bytes, header, 0) : undefined;
    if (!(answers instanceof EncodedTexts)) {
      this.#refused += sent.count;
      return;
    }
    const changes = this.#take(answers.records, sent);
    this.#points += answers.count;
    this.#failed += answers.failed;
    const tookMs = nowMs - sent.sentMs;
    this.#lastSecond.push({ atMs: nowMs, points: answers.count, changes, tookMs });
  }

  /**
   * Stores the records and positions of a frame.
   * @returns the number of vehicles whose code has changed
   */
  #take(records: Uint8Array, { frame, first, count }: SentFrame): number {
    let changes = 0;
    for (let i = 0; i < count; i++) {
      const at = (first + i) * RECORD_BYTES;
      // No code begins with NUL.
      let isOther = false;
      for (let byte = 0; byte < RECORD_TEXT_BYTES && !isOther; byte++)
        isOther = this.records[at + byte] !== records[i * RECORD_BYTES + byte];
      if (isOther && this.records[at] !== 0) changes++;
    }
    this.records.set(records, first * RECORD_BYTES);
    this.answered.set(new Float64Array(frame.buffer, HEADER_BYTES, 2 * count), 2 * first);
    return changes;
  }

  figures(nowMs: number): FleetFigures {
    this.#lastSecond = this.#lastSecond.filter(({ atMs }) => nowMs - atMs < SECOND_MS);
    const took = this.#lastSecond.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    return {
      points: this.#points,
      pointsPerSecond: this.#lastSecond.reduce((sum, { points }) => sum + points, 0),
      changesPerSecond: this.#lastSecond.reduce((sum, { changes }) => sum + changes, 0),
      failed: this.#failed,
      refused: this.#refused,
      unanswered: this.#sent.length,
      window: this.#limits?.windowFrames ?? 0,
      medianMs: took[Math.floor(took.length / 2)],
      longestMs: took.at(-1),
    };
  }

  /** The latest code of a vehicle; empty before its first answer, and where it has none. */
  codeOf(vehicle: number): string {
    const at = vehicle * RECORD_BYTES;
    const text = this.records.subarray(at, at + RECORD_TEXT_BYTES);
    const end = text.indexOf(0);
    return String.fromCharCode(...(end < 0 ? text : text.subarray(0, end)));
  }
}
