// Memory and network that a demand takes, and how many processes and machines that leaves space for.
import type { Results } from '../measure/results.js';
import type { Demand, Stream } from './fleet.js';

/** Share of a link that is planned with: protocols and bursts take the rest. */
export const LINK_SHARE = 0.7;

export interface MachineSize {
  readonly memoryBytes: number;
  readonly linkBitsPerS: number;
}

export interface Space {
  /** As network and memory ask for, whatever the CPU does; 1 or more. */
  readonly leastMachines: number;
  /** Whether the memory of a machine holds one process. */
  readonly holdsProcess: boolean;
  /** Machines that share the load, each beside its connections; 1 or more. */
  mostProcesses(machines: number): number;
}

export function spaceOf(demand: Demand, results: Results, { memoryBytes, linkBitsPerS }: MachineSize): Space {
  // A machine without a connection has no traffic.
  const forNetwork = Math.min(
    Math.max(1, demand.connections),
    Math.ceil(networkBitsPerS(demand, results) / (LINK_SHARE * linkBitsPerS)),
  );
  const { memory } = results;
  if (memory === null)
    return {
      ...{ leastMachines: Math.max(1, forNetwork), holdsProcess: true },
      mostProcesses: () => Number.POSITIVE_INFINITY,
    };
  const processBytes = processBytesOf(memory);
  const heldBytes = demand.connections * memory.perConnectionBytes;
  const holdsProcess = memoryBytes > processBytes;
  const forMemory = holdsProcess ? Math.ceil(heldBytes / (memoryBytes - processBytes)) : 1;
  return {
    ...{ leastMachines: Math.max(1, forNetwork, forMemory), holdsProcess },
    mostProcesses: (machines) => Math.max(1, Math.floor((memoryBytes - heldBytes / machines) / processBytes)),
  };
}

/** At its largest. */
export const processBytesOf = ({ idleBytes, peakBytes }: NonNullable<Results['memory']>): number =>
  Math.max(idleBytes, peakBytes);

/** In the busier period, of the busier direction. */
export function networkBitsPerS(demand: Demand, results: Results): number {
  return Math.max(...periodsOf(demand).map((streams) => bitsPerS(streams, results)));
}

/** In the busier period. */
export const mostPointsPerS = (demand: Demand): number =>
  Math.max(
    ...periodsOf(demand).map((streams) =>
      streams.reduce((sum, { messagesPerS, pointsPerMessage }) => sum + messagesPerS * pointsPerMessage, 0),
    ),
  );

const periodsOf = ({ peak, night }: Demand): (readonly Stream[])[] =>
  night === undefined ? [peak] : [peak, night];

/** Bytes of a frame for each point beyond the first: a position, and its code or fault with it. */
const RECORD_BYTES = { sent: 16, received: 20 };
/** Bytes of an HTTP request or answer without its points, with some that a proxy adds. */
const HEAD_BYTES = 300;

function bitsPerS(streams: readonly Stream[], results: Results): number {
  let [sent, received] = [0, 0];
  for (const { kind, pointsPerMessage, messagesPerS } of streams) {
    const way = results.ways.find(({ name }) => name === kind);
    if (way === undefined) continue;
    const more = pointsPerMessage - way.pointsPerUnit;
    const bytesOf = (measured: number, record: number): number => {
      const perPoint =
        kind === 'stream' ? record : (measured - Math.min(HEAD_BYTES, measured / 2)) / way.pointsPerUnit;
      return measured + more * perPoint;
    };
    sent += messagesPerS * bytesOf(way.sentBytesPerUnit, RECORD_BYTES.sent);
    received += messagesPerS * bytesOf(way.receivedBytesPerUnit, RECORD_BYTES.received);
  }
  return 8 * Math.max(sent, received);
}
