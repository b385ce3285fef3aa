// Bytes that a rate of points takes on the bus: the arithmetic of `hexcodes worker setup` and `hexcodes plan`.

/** Head, headers and index entry of a message in a stream. */
const MESSAGE_BYTES = 250;
const FRAME_HEADER_BYTES = 16;
const POINT_BYTES = 16;
const RECORD_BYTES = 20;
/** The name of a vehicle in the headers of a collected frame. */
const SOURCE_BYTES = 10;
/** A JSON position as trackers send it, with its subject. */
const POSITION_BYTES = 200;
/** A row of NDJSON, and the members that its answer adds. */
const ROW_BYTES = 45;
const ANSWERED_ROW_BYTES = 130;

export interface BusLoad {
  readonly pointsPerSecond: number;
  /** Points of a message: 1 for a JSON object with a position, more for frames. */
  readonly pointsPerMessage: number;
  /** Whether frames name the vehicle of each point, as collected ones do. */
  readonly isCollected?: boolean;
}

export interface BusBytes {
  /** Bytes a second of messages, of their answers, and of single positions before they are collected. */
  readonly input: number;
  readonly output: number;
  readonly positions: number;
}

/** Share of its size at which a stream counts as nearly full. */
export const NEARLY_FULL = 0.8;

/** Bytes that a load adds to the streams in a second, for one replica. */
export function busBytesPerSecond({
  pointsPerSecond,
  pointsPerMessage,
  isCollected = false,
}: BusLoad): BusBytes {
  const messagesPerSecond = pointsPerSecond / pointsPerMessage;
  const isJson = pointsPerMessage === 1;
  const head = MESSAGE_BYTES + (isJson ? 0 : FRAME_HEADER_BYTES);
  const named = isCollected ? SOURCE_BYTES : 0;
  return {
    input: messagesPerSecond * head + pointsPerSecond * ((isJson ? ROW_BYTES : POINT_BYTES) + named),
    output:
      messagesPerSecond * head + pointsPerSecond * ((isJson ? ANSWERED_ROW_BYTES : RECORD_BYTES) + named),
    positions: isCollected ? pointsPerSecond * (MESSAGE_BYTES + POSITION_BYTES) : 0,
  };
}

/**
 * Points of a frame that a collector makes at this rate.
 * @param waitMs longest time that a position waits for others
 */
export const collectedPoints = (pointsPerSecond: number, waitMs: number): number =>
  Math.max(1, Math.min(16_384, Math.floor((pointsPerSecond * waitMs) / 1000)));

/** Factor of spare space in a stream: the mean rate of a day has peaks. */
export const SPARE = 1.25;

/** A stream, its size and what it gets in a second. */
export interface SizedStream {
  readonly name: string;
  readonly maxBytes: number;
  readonly bytesPerSecond: number;
  /** Requested retention of its messages. */
  readonly keepMs: number;
}

export interface Lasting {
  readonly name: string;
  /** At most the requested retention. */
  readonly hours: number;
  readonly wantedHours: number;
}

/** How long streams last at a load; the one that falls shortest of its retention comes first. */
export function lasting(streams: readonly SizedStream[]): Lasting[] {
  return streams
    .filter(({ bytesPerSecond }) => bytesPerSecond > 0)
    .map(({ name, maxBytes, bytesPerSecond, keepMs }) => ({
      name,
      hours: Math.min(keepMs, (1000 * maxBytes) / bytesPerSecond) / 3_600_000,
      wantedHours: keepMs / 3_600_000,
    }))
    .sort((a, b) => a.hours / a.wantedHours - b.hours / b.wantedHours || b.hours - a.hours);
}
