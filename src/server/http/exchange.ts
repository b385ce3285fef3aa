// A request as the service knows it: the transport's exchange, with what keys, limits and the log note of it.

import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import type { Entry } from '../ledger/entry.js';
import type * as transport from '../transport/adapter.js';
import type { Exchange as TransportExchange } from '../transport/exchange.js';

const NO_POSITION = {};

export class RequestNotes {
  /** In the ledger of its key; undefined before that is known, and where nothing is counted. */
  entry: Entry | undefined = undefined;
  /** Lines of the answer's head that help its caller, as `\r\nHexcodes-Hint: …`. */
  hint = '';
  /** The operation of the request in usage: an index in OPERATIONS. */
  operation = 0;
  /** "\r\nHexcodes-Data: …" where the answer names its boundary data. */
  dataLine = '';
  /** Fields with the position or code of a single call; {} unless the log is to have them. */
  position: Readonly<Record<string, string | number>> = NO_POSITION;
}

export type Exchange = TransportExchange<RequestNotes>;
export type Adapter = transport.Adapter<RequestNotes>;

// One position to a code by the kernel of this thread.

/**
 * Converts and counts a position that is admitted; its code is then the kernel's `textAt(0)`.
 * @param logsPositions whether the log has the position
 * @returns false where no province is
 */
export function encodeOne(
  x: Exchange,
  kernel: Kernel,
  latDeg: number,
  lngDeg: number,
  resolution: number,
  logsPositions: boolean,
): boolean {
  const isOk = kernel.exports.encodeOne(latDeg, lngDeg, resolution) === OK;
  x.notes.entry?.done(isOk ? 1 : 0, isOk ? 0 : 1);
  if (logsPositions) x.notes.position = { lat_deg: latDeg, lng_deg: lngDeg, resolution };
  return isOk;
}
