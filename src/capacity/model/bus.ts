// A fleet on NATS JetStream: the workers, servers and streams that carry it, and the size of the streams for a given
// retention. Costs are those of `npm run bench -- engine`.

import type { ConversionResult, Results } from '../measure/results.js';
import type { Requirements } from './sizing.js';

/** CPU of a point in messages of 16,384 points, in nanoseconds, on one core of an Intel Xeon at 2.5 GHz. */
const WORKER_NS = 160;
const SERVER_NS = 117;
const POINTS_PER_MESSAGE = 16_384;
/**
 * CPU of a message of one position, in worker and server, measured at 7c90918 with 2,000/s through one worker. At
 * 1,000/s it takes 118 and 82, at 8,000/s 70 and 49.
 */
const MESSAGE_US = { worker: 91, server: 62 };
/**
 * CPU of a single position until it is in a frame, in collector and server, measured at 8c6a8b7: the higher of two
 * runs of ten minutes. A calm minute took 18 and 15.
 */
const COLLECTED_US = { collector: 28, server: 25 };
/** Cores of an idle worker: its timers and its requests to the server. */
const WAITING_CORES = 0.005;
/**
 * Planned rates, with space for failures and peaks: points a second of a worker and of a stream's server, and the
 * cores that either takes, with its threads.
 */
const WORKER_POINTS_PER_S = 4e6;
const STREAM_POINTS_PER_S = 6e6;
const CORES_OF_PROCESS = 1.6;
/** Share of a link that is payload when messages are large. */
const LINK_SHARE = 0.95;
/** Bytes on the wire of a point, as two doubles and as a record; and of a message, its subject and headers. */
const BUS_BYTES = { in: 16, out: 20, message: 120 };

export interface BusRequest {
  /** At the peak. */
  readonly pointsPerS: number;
  /** Mean over a day, which determines the size of streams. */
  readonly meanPointsPerS: number;
  readonly pointsPerMessage: number;
  /** Whether positions come singly and a collector puts them into these messages. */
  readonly isCollected?: boolean;
  /** Servers that hold each message: 1, 3 or 5. */
  readonly replicas: number;
  readonly maxAgeS: number;
  readonly coresPerMachine: number;
  readonly linkBitsPerS: number;
}

export interface BusPlan {
  readonly streams: number;
  readonly workers: number;
  readonly workerCores: number;
  readonly collectorCores: number;
  readonly serverCores: number;
  readonly machines: number;
  /** The resource that determines the number of machines. */
  readonly boundBy: 'CPU' | 'network';
  /** Bits a second sent by the servers, replicas included. */
  readonly serverBitsPerS: number;
  /** Bytes of positions and answers in the streams of all servers, after `maxAgeS`. */
  readonly storedBytes: number;
  /** `--max-bytes` of one stream of answers, the larger of the two kinds, that lasts for `maxAgeS`. */
  readonly streamBytes: number;
  /** How long a stream of 1 GiB, the default of `hexcodes worker setup`, lasts at this rate. */
  readonly defaultLastsS: number;
}

/** Default of `--max-bytes` of `hexcodes worker setup`. */
const DEFAULT_STREAM_BYTES = 2 ** 30;

/** Bytes a second of streams and their spare size: the arithmetic of `hexcodes worker setup`. */
interface StreamArithmetic {
  readonly bytesPerSecond: (
    load: Record<'pointsPerSecond' | 'pointsPerMessage', number>,
  ) => Record<'input' | 'output', number>;
  readonly spare: number;
}

export function busOf(request: BusRequest, { bytesPerSecond, spare }: StreamArithmetic): BusPlan {
  const { pointsPerS, meanPointsPerS, pointsPerMessage, isCollected = false } = request;
  const { replicas, maxAgeS, coresPerMachine, linkBitsPerS } = request;
  const perS = pointsPerS / pointsPerMessage;
  // Costs were measured in messages of 16,384 points and include the share of that many messages.
  const messagesBeyond = Math.max(0, perS - pointsPerS / POINTS_PER_MESSAGE);
  const coresOf = (pointNs: number, messageUs: number): number =>
    (pointsPerS * pointNs) / 1e9 + (messagesBeyond * messageUs) / 1e6;
  const collectedPerS = isCollected ? pointsPerS : 0;
  const busyCores = coresOf(WORKER_NS, MESSAGE_US.worker);
  const collectorCores = (collectedPerS * COLLECTED_US.collector) / 1e6;
  const serverCores = coresOf(SERVER_NS, MESSAGE_US.server) + (collectedPerS * COLLECTED_US.server) / 1e6;
  const workers = Math.ceil((busyCores * 1e9) / WORKER_NS / WORKER_POINTS_PER_S);
  const workerCores = busyCores + workers * WAITING_CORES;
  const streams = Math.ceil((serverCores * 1e9) / SERVER_NS / STREAM_POINTS_PER_S);
  const sent = pointsPerS * (BUS_BYTES.in + BUS_BYTES.out) + 2 * perS * BUS_BYTES.message;
  // The leader sends the message to a worker, the answer to its reader, and both to each further replica.
  const serverBitsPerS = 8 * sent * (1 + (replicas - 1));
  const { input, output } = bytesPerSecond({ pointsPerSecond: meanPointsPerS, pointsPerMessage });
  const byCpu = Math.ceil((CORES_OF_PROCESS * (workers + streams) + collectorCores) / coresPerMachine);
  const byNetwork = Math.ceil(serverBitsPerS / (LINK_SHARE * linkBitsPerS));
  return {
    streams,
    workers,
    workerCores,
    collectorCores,
    serverCores,
    serverBitsPerS,
    machines: Math.max(1, byCpu, byNetwork),
    boundBy: byNetwork > byCpu ? 'network' : 'CPU',
    storedBytes: (input + output) * maxAgeS * replicas,
    streamBytes: (spare * output * maxAgeS) / streams,
    defaultLastsS: (DEFAULT_STREAM_BYTES * streams) / output,
  };
}

// A history that is converted once: the cores and machines that finish it in time, from what the command takes for a
// row.

interface OnceRequest extends Pick<Requirements, 'coresPerMachine' | 'headroom' | 'pricePerCoreHour'> {
  readonly rows: number;
  readonly format: ConversionResult['format'];
  readonly withinMs: number;
}

export interface OncePlan {
  readonly request: OnceRequest;
  readonly nsPerRow: number;
  /** Machine of that measurement, if another than that of the results. */
  readonly machine: string | null;
  /** CPU time of all rows. */
  readonly coreSeconds: number;
  /** Cores that are busy throughout; `cores` adds the headroom. */
  readonly busyCores: number;
  readonly cores: number;
  readonly machines: number;
  /** Duration with all cores of these machines busy. */
  readonly fastestMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Bytes a second that each machine reads and writes. */
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
