// A JSON object that holds one position, the message of a tracker. Latitude and longitude are found by the given
// paths; otherwise under the usual column names in the object, in a member that is an object, such as `position` of
// Traccar's messages, or under keys with dots that share a prefix, or in a GeoJSON point.

import {
  FRAME_ENCODE,
  FRAME_HEADER_BYTES,
  FRAME_TEXT,
  FRAME_VERSION,
  POINT_BYTES,
} from '../../hexcodes/wire/limits.js';
import { parseExact, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { hemisphereFault } from '../../hexcodes/wire/params/names.js';
import { readDecimal } from '../../hexcodes/wire/params/number.js';
import { isKnownName, pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';
import { EngineFault } from '../engine.js';
import { type PositionPaths, quoted, UnreadableMessage } from './message-shape.js';

export interface PositionObject {
  /** The text of the whole object, without surrounding blanks. */
  readonly text: string;
  readonly names: readonly string[];
  readonly value: JsonObject;
  /** NaN where the value is not a number. */
  readonly latDeg: number;
  readonly lngDeg: number;
}

type JsonObject = Readonly<Record<string, unknown>>;
type Degrees = readonly [latDeg: number, lngDeg: number];

/** Members that identify the vehicle, in the order in which they are looked up. */
const ID_NAMES = ['id', 'vehicle', 'vehicleId', 'vehicle_id', 'deviceId', 'device_id', 'uniqueId', 'imei'];

const MAX_ID = 1000;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The object of a message, or the items of an array.
 * @throws UnreadableMessage
 */
export function readPositionObjects(
  bytes: Uint8Array,
  paths?: PositionPaths,
): PositionObject | PositionObject[] {
  const { text, value } = jsonIn(bytes, paths);
  if (isObject(value)) return positionIn(text, value, paths);
  if (!Array.isArray(value) || !value.every(isObject))
    throw new UnreadableMessage('it is neither a JSON object nor an array of objects');
  const texts = itemTexts(text);
  return value.map((item, index) => {
    try {
      return positionIn(texts[index]!, item, paths);
    } catch (error) {
      throw new UnreadableMessage(`item ${index}: ${(error as Error).message}`, { cause: error });
    }
  });
}

/** @throws UnreadableMessage, also for an array */
export function readPositionObject(bytes: Uint8Array, paths?: PositionPaths): PositionObject {
  const { text, value } = jsonIn(bytes, paths);
  if (!isObject(value)) throw new UnreadableMessage('it is not a JSON object');
  return positionIn(text, value, paths);
}

function jsonIn(bytes: Uint8Array, paths: PositionPaths | undefined): { text: string; value: unknown } {
  let read: { text: string; value: unknown };
  try {
    const text = decoder.decode(bytes).trim();
    read = { text, value: parseExact(text) };
  } catch (cause) {
    const isJson = cause instanceof RangeError;
    const why = isJson ? 'it has a number beyond all doubles, or is nested too deep' : 'it is not JSON';
    throw new UnreadableMessage(why, { cause });
  }
  const steps = [paths?.lat ?? '', paths?.lng ?? ''].flatMap((path) => [path, ...path.split('.')]);
  const matters = (path: readonly string[], value: string): boolean => {
    const name = path.at(-1)!;
    return /^[[{]/.test(value) || isKnownName(name) || ID_NAMES.includes(name) || steps.includes(name);
  };
  const repeated = repeatedMember(read.text, matters);
  if (repeated !== undefined)
    throw new UnreadableMessage(`it has ${quoted(repeated)} more than once with different values`);
  return read;
}

/** The texts of the items of an array of objects that JSON.parse has read. */
function itemTexts(text: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') {
      for (i++; text[i] !== '"'; i++) if (text[i] === '\\') i++;
    } else if (character === '{' || character === '[') {
      if (++depth === 2) from = i;
    } else if ((character === '}' || character === ']') && --depth === 1) {
      texts.push(text.slice(from, i + 1));
    }
  }
  return texts;
}

function positionIn(text: string, value: JsonObject, paths: PositionPaths | undefined): PositionObject {
  const [latDeg, lngDeg] = paths === undefined ? degreesIn(value) : degreesAt(value, paths);
  return { text, names: Object.keys(value), value, latDeg, lngDeg };
}

// --- By paths ---

function degreesAt(value: JsonObject, { lat, lng }: PositionPaths): Degrees {
  const first = memberAt(value, lat);
  refuseSides(value, walk(value, lat.split('.').slice(0, -1)));
  if (lng !== undefined) return [degreesOf(first), degreesOf(memberAt(value, lng))];
  if (typeof first === 'string') {
    const position = parsePosition(first);
    return position === null ? [Number.NaN, Number.NaN] : [position.latDeg, position.lngDeg];
  }
  if (isObject(first)) return pointOf(first) ?? degreesIn(first);
  const pair = Array.isArray(first) && first.length === 2 ? first.map(degreesOf) : [];
  return [pair[0] ?? Number.NaN, pair[1] ?? Number.NaN];
}

/** @throws UnreadableMessage where the path leads to nothing */
function memberAt(value: JsonObject, path: string): unknown {
  const found = walk(value, path.split('.'));
  if (found === undefined) throw new UnreadableMessage(`it has no member ${quoted(path)}`);
  return found;
}

function walk(value: unknown, steps: readonly string[]): unknown {
  if (steps.length === 0) return value;
  if (Array.isArray(value)) return walk(value[Number(steps[0])], steps.slice(1));
  if (!isObject(value)) return undefined;
  for (let count = steps.length; count > 0; count--) {
    const name = steps.slice(0, count).join('.');
    const found = Object.hasOwn(value, name) ? walk(value[name], steps.slice(count)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

// --- By names ---

function degreesIn(value: JsonObject): Degrees {
  const holders = [value, ...Object.values(value).filter(isObject), ...dottedIn(value)].filter((each) => {
    const { lat, lng } = pairColumns(Object.keys(each));
    return lat.length > 0 && lng.length > 0;
  });
  const own = pointOf(value);
  const points =
    own === undefined
      ? Object.values(value)
          .filter(isObject)
          .map(pointOf)
          .filter((each) => each !== undefined)
      : [own];
  const holder = holders[0];
  if (holder === undefined) {
    if (points.length === 1) return points[0]!;
    throw new UnreadableMessage(
      points.length === 0
        ? 'it has no members for latitude and longitude, as lat and lng; --lat names them'
        : 'more than one of its members could be the position; --lat names one',
    );
  }
  if ((holder !== value && holders.length > 1) || points.length > 0)
    throw new UnreadableMessage('more than one of its members could be the position; --lat names one');
  const names = Object.keys(holder);
  const { lat, lng } = pairColumns(names);
  if (lat.length > 1 || lng.length > 1)
    throw new UnreadableMessage('more than one of its members could be latitude or longitude');
  refuseSides(value, holder);
  const values = Object.values(holder);
  return [degreesOf(values[lat[0]!]), degreesOf(values[lng[0]!])];
}

/** @throws UnreadableMessage for members next to the degrees that give a hemisphere */
function refuseSides(...around: readonly unknown[]): void {
  const side = hemisphereFault(around.filter(isObject).flatMap(Object.keys));
  if (side !== undefined) throw new UnreadableMessage(`${quoted(side.parameter)} ${side.message}`);
}

/** Groups members by the part of their key before the last dot, each group as an object. */
function dottedIn(value: JsonObject): JsonObject[] {
  const groups = new Map<string, Record<string, unknown>>();
  for (const [name, each] of Object.entries(value)) {
    const dot = name.lastIndexOf('.');
    if (dot < 1) continue;
    const group = groups.get(name.slice(0, dot)) ?? Object.create(null);
    group[name.slice(dot + 1)] = each;
    groups.set(name.slice(0, dot), group);
  }
  return [...groups.values()];
}

/** The position of a point of GeoJSON, or of a feature with one; undefined for any other object. */
function pointOf({ type, geometry, coordinates }: JsonObject): Degrees | undefined {
  if (type === 'Feature') return isObject(geometry) ? pointOf(geometry) : undefined;
  if (type !== 'Point' || !Array.isArray(coordinates)) return undefined;
  const [lng, lat] = coordinates as unknown[];
  return [typeof lat === 'number' ? lat : Number.NaN, typeof lng === 'number' ? lng : Number.NaN];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function degreesOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? readDecimal(value.trim()) : Number.NaN;
}

/**
 * The vehicle of a position, by a member of the object or of its `device`; undefined where none names it.
 * @throws UnreadableMessage for an id that is too long for the header of a frame
 */
export function vehicleOf({ value }: PositionObject): string | undefined {
  const { device } = value;
  for (const each of isObject(device) ? [device, value] : [value, ...Object.values(value).filter(isObject)]) {
    // Traccar numbers devices itself; the number on the device is its uniqueId.
    for (const name of each === device ? ['uniqueId', ...ID_NAMES] : ID_NAMES) {
      const id = each[name];
      if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') continue;
      const text = String(id);
      if (text.length <= MAX_ID) return text;
      throw new UnreadableMessage(`its ${name} has ${text.length} characters, and may have ${MAX_ID}`);
    }
  }
  return undefined;
}

// Single positions that are collected into one frame. The frame names the first and last message it is made of, so
// that any collector begins the next one after it, and the vehicle of each point.

export const SEQUENCES_HEADER = 'Hexcodes-Sequences';
export const SOURCES_HEADER = 'Hexcodes-Sources';

/** Servers in a cluster accept headers of 64 KiB. */
const MAX_SOURCES_BYTES = 48 * 1024;

export class PositionBatch {
  readonly #positions: { readonly latDeg: number; readonly lngDeg: number }[] = [];
  readonly #sources: string[] = [];
  #sourcesBytes = 2;
  lastSeq: number;

  /**
   * @param firstSeq sequence of the first message
   * @param maxPoints of the frame
   */
  constructor(
    readonly firstSeq: number,
    readonly maxPoints: number,
  ) {
    this.lastSeq = firstSeq - 1;
  }

  get points(): number {
    return this.#positions.length;
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
    this.lastSeq = seq;
    return true;
  }

  /** Counts a message without a position as part of the frame. */
  skip(seq: number): void {
    this.lastSeq = seq;
  }

  get headers(): Map<string, string> {
    return new Map([
      [SEQUENCES_HEADER, `${this.firstSeq}-${this.lastSeq}`],
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
 * The sequence of the last message of a frame, by its header; 0 where there is no frame.
 * @param subject of the frame, whose last word is the sequence of the first message
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
