// A place that positions go on to, as their delivery sees it.
import { setImmediate as nextTurn } from 'node:timers/promises';

const LINE_END = 10;
/** Bytes of lines that are parsed before requests have their turn: some 100 µs. */
const TURN_BYTES = 32 * 1024;

/**
 * @param lines whole lines
 * @param each gets a line without its end
 */
export async function eachLine(lines: Buffer, each: (line: Buffer) => void): Promise<void> {
  let turnEnd = TURN_BYTES;
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(LINE_END, at);
    each(lines.subarray(at, end));
    at = end + 1;
    if (at >= turnEnd) {
      turnEnd = at + TURN_BYTES;
      await nextTurn();
    }
  }
}

/** A position as sinks get it: the members of a line of NDJSON, in this order. null: not known. */
export interface PositionRow {
  /** The same however often the position is sent or delivered. */
  readonly id: string;
  readonly unique_id: string;
  readonly name: string | null;
  /** ISO 8601, in UTC, as the two that follow. */
  readonly fix_time: string | null;
  readonly device_time: string | null;
  readonly server_time: string | null;
  readonly lat: number;
  readonly lng: number;
  readonly hexcodes: string | null;
  readonly resolution: number;
  readonly admin_code: string | null;
  readonly status: 'OK' | 'NOT_FOUND';
  readonly speed_kn: number | null;
  readonly course: number | null;
  readonly altitude_m: number | null;
  readonly accuracy_m: number | null;
  readonly valid: boolean | null;
  readonly protocol: string | null;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

export interface Sink {
  /** Names the sink in sentences, without anything secret. */
  readonly name: string;
  /**
   * Resolves when the sink has all lines. One that does not obey `signal` is left alone at the end of the process.
   * @param lines whole lines of NDJSON, each a PositionRow
   * @param signal gives the delivery up
   */
  deliver(lines: Buffer, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Calls `each` with every row of whole lines, in several turns of the event loop where there are many. */
export function eachRow(lines: Buffer, each: (row: PositionRow, line: Buffer) => void): Promise<void> {
  return eachLine(lines, (line) => each(JSON.parse(line.toString()) as PositionRow, line));
}
