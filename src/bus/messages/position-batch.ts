// Single positions on their way into one frame. The frame says from which messages of the stream it is made, so that
// the next one begins after it, whichever collector makes it; and from which vehicles, in the order of its points.
import {
  FRAME_ENCODE,
  FRAME_HEADER_BYTES,
  FRAME_TEXT,
  FRAME_VERSION,
  POINT_BYTES,
} from '../../hexcodes/wire/limits.js';

import { EngineFault } from '../engine.js';

export const SEQUENCES_HEADER = 'Hexcodes-Sequences';
export const SOURCES_HEADER = 'Hexcodes-Sources';

/** Servers in a cluster take headers of 64 KiB. */
const MAX_SOURCES_BYTES = 48 * 1024;

export class PositionBatch {
  readonly #positions: { readonly latDeg: number; readonly lngDeg: number }[] = [];
  readonly #sources: string[] = [];
  #sourcesBytes = 2;
  #lastSeq: number;

  /**
   * @param firstSeq number of the first message
   * @param maxPoints of the frame
   */
  constructor(
    readonly firstSeq: number,
    readonly maxPoints: number,
  ) {
    this.#lastSeq = firstSeq - 1;
  }

  get points(): number {
    return this.#positions.length;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** @returns false where it has no space for this position; then nothing is added */
  add(seq: number, latDeg: number, lngDeg: number, source: string): boolean {
    const text = JSON.stringify(source);
    const sizeBytes = Buffer.byteLength(text) + 1;
    const isFull = this.points >= this.maxPoints || this.#sourcesBytes + sizeBytes > MAX_SOURCES_BYTES;
    if (isFull && this.points > 0) return false;
    this.#positions.push({ latDeg, lngDeg });
    this.#sources.push(text);
    this.#sourcesBytes += sizeBytes;
    this.#lastSeq = seq;
    return true;
  }

  /** Counts a message that holds no position as one of the frame's. */
  skip(seq: number): void {
    this.#lastSeq = seq;
  }

  get headers(): Map<string, string> {
    return new Map([
      [SEQUENCES_HEADER, `${this.firstSeq}-${this.#lastSeq}`],
      [SOURCES_HEADER, `[${this.#sources.join(',')}]`],
    ]);
  }

  frame(resolution: number): Uint8Array {
    const frame = new Uint8Array(FRAME_HEADER_BYTES + this.points * POINT_BYTES);
    frame.set([FRAME_VERSION, FRAME_ENCODE, resolution, FRAME_TEXT]);
    const view = new DataView(frame.buffer);
    view.setUint32(8, this.points, true);
    let at = FRAME_HEADER_BYTES;
    for (const { latDeg, lngDeg } of this.#positions) {
      view.setFloat64(at, latDeg, true);
      view.setFloat64(at + 8, lngDeg, true);
      at += POINT_BYTES;
    }
    return frame;
  }
}

/**
 * The number of the last message of a frame, by its header; 0 where there is no frame.
 * @param subject of the frame, whose last word is the number of the first message
 * @param lastSeq of the stream of the positions
 * @throws EngineFault for a frame that no collector has made
 */
export function lastSequenceOf(subject: string, header: string | undefined, lastSeq: number): number {
  const [, first = '', last = ''] = /^([1-9]\d{0,15})-([1-9]\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '') throw new EngineFault(`${SEQUENCES_HEADER} must be two numbers`);
  if (subject.slice(subject.lastIndexOf('.') + 1) !== first)
    throw new EngineFault(`its subject does not end with ${first}, the first of its messages`);
  if (Number(last) < Number(first) || Number(last) > lastSeq)
    throw new EngineFault(
      `message ${last} is not after ${first} in their stream, which ends with ${lastSeq}`,
    );
  return Number(last);
}
