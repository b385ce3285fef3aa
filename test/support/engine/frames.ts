// Frames of positions for the engine's tests, their answers by the library, the converter of messages, and the worker
// as a process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerBuffers, MessageConverter } from '#dist/bus/messages/message-converter.js';
import {
  DEFAULT_RULES,
  MessageLater,
  readFormatRule,
  shapeOf,
  UnreadableMessage,
} from '#dist/bus/messages/message-shape.js';
import { Hexcodes } from '#hexcodes';

export { haveCommon, isUnder, isWithin, requirePattern, SubjectMap, wordOf } from '#dist/bus/subjects.js';

export {
  AnswerBuffers,
  DEFAULT_RULES,
  MessageConverter,
  MessageLater,
  readFormatRule,
  shapeOf,
  UnreadableMessage,
};

const HEADER_BYTES = 16;
const RESOLUTION = 13;

let library: Hexcodes | undefined;

export async function loadLibrary(): Promise<Hexcodes> {
  library ??= await Hexcodes.load();
  return library;
}

export type Rules = ConstructorParameters<typeof MessageConverter>[1];

/** @param rules those that are not the defaults */
export const rulesOf = (rules: Partial<Rules> = {}): Rules => ({ ...DEFAULT_RULES, ...rules });

/** @param rules those that are not the defaults @param avro reads messages in Avro */
export function converterOf(
  { kernel }: Hexcodes,
  rules: Partial<Rules> = {},
  avro?: ConstructorParameters<typeof MessageConverter>[3],
): MessageConverter {
  return new MessageConverter(kernel, rulesOf(rules), undefined, avro);
}

/** Positions in and around Viet Nam, by a number alone: lat, lng, lat, lng, … */
export function positionsOf(seed: number, count: number): Float64Array {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  const next = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  const latLng = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    latLng[2 * i] = 8 + 16 * next();
    latLng[2 * i + 1] = 102 + 8 * next();
  }
  return latLng;
}

export function encodeFrame(latLng: Float64Array, seq = 0): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + latLng.byteLength);
  const view = new DataView(frame.buffer);
  frame.set([1, 1, RESOLUTION, 0]);
  view.setUint32(4, seq, true);
  view.setUint32(8, latLng.length / 2, true);
  frame.set(new Uint8Array(latLng.buffer, latLng.byteOffset, latLng.byteLength), HEADER_BYTES);
  return frame;
}

/** The answer to such a frame, its records by the library. */
export function answerByLibrary(hexcodes: Hexcodes, latLng: Float64Array, seq = 0): Uint8Array {
  const records = hexcodes.encodeBatch(latLng, RESOLUTION);
  const answer = new Uint8Array(HEADER_BYTES + records.length);
  answer.set([1, 1, 0, 0]);
  const view = new DataView(answer.buffer);
  view.setUint32(4, seq, true);
  view.setUint32(8, latLng.length / 2, true);
  let failed = 0;
  for (let at = 19; at < records.length; at += 20) if (records[at] !== 0) failed++;
  view.setUint32(12, failed, true);
  answer.set(records, HEADER_BYTES);
  return answer;
}

// `hexcodes worker` as a process, with the counts that it says.

const MAIN = resolve('dist/cli/main.js');

export interface Counts {
  messages: number;
  points: number;
  redelivered: number;
  already: number;
  dead: number;
}

const WORDS: readonly (readonly [keyof Counts, string])[] = [
  ['messages', 'messages'],
  ['points', 'points'],
  ['redelivered', 'delivered again'],
  ['already', 'answered already'],
  ['dead', 'dead letters'],
];

interface WorkerPlace {
  readonly command: readonly string[];
  readonly before: readonly string[];
  readonly cwd: string;
}

export class WorkerProcess {
  readonly child: ChildProcess;
  text = '';
  /** Whether the process is gone, and all its words are in `text`. */
  hasEnded = false;
  readonly #closed: Promise<unknown>;

  /** @param before the words of a program that starts it */
  constructor(
    url: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
    { command = ['worker'], before = [], cwd = process.cwd() }: Partial<WorkerPlace> = {},
  ) {
    const [program = '', ...words] = [...before, process.execPath, MAIN, ...command, ...args];
    this.child = spawn(program, words, {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HEXCODES_NATS_URL: url, ...env },
    });
    this.child.stderr!.setEncoding('utf8');
    this.child.stderr!.on('data', (text: string) => {
      this.text += text;
    });
    this.#closed = once(this.child, 'close').then(() => (this.hasEnded = true));
  }

  /** The counts that it has said last. */
  get counts(): Counts {
    const line = this.text.split('\n').findLast((each) => / messages {2}/.test(each)) ?? '';
    const counts: Counts = { messages: 0, points: 0, redelivered: 0, already: 0, dead: 0 };
    for (const [name, words] of WORDS)
      counts[name] = Number(new RegExp(`([\\d,]+) ${words}`).exec(line)?.[1]?.replaceAll(',', '') ?? 0);
    return counts;
  }

  /** Waits until it has said this. */
  async says(words: string | RegExp, patienceMs = 60_000): Promise<void> {
    for (const deadline = performance.now() + patienceMs; this.text.search(words) < 0; await sleep(20)) {
      if (performance.now() > deadline || this.hasEnded)
        throw new Error(`the worker has not said ${words}, but: ${this.text}`);
    }
  }

  /** @returns its exit code, null where a signal ended it */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.ended();
  }

  /** Waits until it ends by itself; its exit code. */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.child.exitCode;
  }
}
