// A history that is converted once: cores and machines for it within a time, from what the command takes for a row.
import type { ConversionResult, Results } from '../measure/results.js';

export interface OnceRequest {
  readonly rows: number;
  readonly format: ConversionResult['format'];
  readonly withinMs: number;
  readonly coresPerMachine: number;
  /** Share of the capacity that stays free, 0 to below 1. */
  readonly headroom: number;
  readonly pricePerCoreHour: number | undefined;
}

export interface OncePlan {
  readonly request: OnceRequest;
  readonly nsPerRow: number;
  /** Where that was measured, if on another machine than the results. */
  readonly machine: string | null;
  /** CPU time of all rows. */
  readonly coreSeconds: number;
  /** Busy all the time, and those with the headroom. */
  readonly busyCores: number;
  readonly cores: number;
  readonly machines: number;
  /** How long these machines take with no core free. */
  readonly fastestMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Read and written, by each machine. */
  readonly bytesPerSPerMachine: number;
  readonly price: number | null;
}

/** @throws Error where the results have no conversion of the format */
export function planOnce(request: OnceRequest, { conversions }: Results): OncePlan {
  const { rows, format, withinMs, coresPerMachine, headroom, pricePerCoreHour } = request;
  const found = conversions?.find((each) => each.format === format);
  if (found === undefined)
    throw new Error(
      `no conversion of ${format} was measured: measure again with this version of hexcodes bench`,
    );
  const coreSeconds = (rows * found.nsPerRow) / 1e9;
  const busyCores = (1000 * coreSeconds) / withinMs;
  const cores = Math.max(1, Math.ceil(busyCores / (1 - headroom)));
  const machines = Math.ceil(cores / coresPerMachine);
  const [readBytes, writtenBytes] = [rows * found.readBytesPerRow, rows * found.writtenBytesPerRow];
  return {
    request,
    nsPerRow: found.nsPerRow,
    machine: found.machine ?? null,
    coreSeconds,
    busyCores,
    cores,
    machines,
    readBytes,
    writtenBytes,
    fastestMs: (1000 * coreSeconds) / (machines * coresPerMachine),
    bytesPerSPerMachine: (1000 * (readBytes + writtenBytes)) / withinMs / machines,
    price:
      pricePerCoreHour === undefined
        ? null
        : (pricePerCoreHour * machines * coresPerMachine * withinMs) / 3_600_000,
  };
}
