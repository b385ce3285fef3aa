// Frames of positions for the engine's tests, their answers by the library, and the converter of messages.
import { AnswerBuffers, MessageConverter } from '#dist/bus/messages/message-converter.js';
import {
  DEFAULT_RULES,
  MessageLater,
  readFormatRule,
  shapeOf,
  UnreadableMessage,
} from '#dist/bus/messages/message-shape.js';
import { Hexcodes } from '#hexcodes';

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
