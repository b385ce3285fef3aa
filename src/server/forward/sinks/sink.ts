// A place that positions go on to, as their delivery sees it.
import { eachLine } from '../backlog/each-line.js';

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
