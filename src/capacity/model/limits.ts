// The limits that a plan meets as its fleet grows, the nearest first: each with how many times this fleet it carries.
import type { Results } from '../measure/results.js';
import type { Demand } from './fleet.js';
import type { Sizing } from './sizing.js';

export interface Limit {
  readonly name: string;
  /** Carried, and asked for, in the unit that the name says. */
  readonly carries: number;
  readonly asks: number;
  /** carries ÷ asks. */
  readonly times: number;
  /** The setting that raises it; undefined where only machines do. */
  readonly setting?: string;
}

/** Defaults of the service, for each process: HEXCODES_MAX_CONNECTIONS and HEXCODES_MAX_SOCKETS_PER_KEY. */
const MOST_CONNECTIONS = 50_000;
const MOST_SOCKETS_OF_KEY = 20_000;
/** Share of a link that is planned with: protocols and bursts take the rest. */
const LINK_SHARE = 0.7;

export interface MachineSize {
  readonly memoryBytes: number;
  readonly linkBitsPerS: number;
}

export function limitsOf(demand: Demand, sizing: Sizing, results: Results, size: MachineSize): Limit[] {
  const { machines, processesPerMachine } = sizing;
  const processes = machines * processesPerMachine;
  const limit = (name: string, carries: number, asks: number): Limit => ({
    name,
    carries,
    asks,
    times: carries / asks,
  });
  const limits = [limit('CPU: busy share of a process', sizing.mostBusyShare, sizing.busyShare)];
  limits.push({
    ...limit('connections', MOST_CONNECTIONS * processes, demand.connections),
    setting: 'HEXCODES_MAX_CONNECTIONS',
  });
  if (demand.peak[0]!.kind === 'stream')
    limits.push({
      ...limit('WebSockets of one key', MOST_SOCKETS_OF_KEY * processes, demand.connections),
      setting: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    });
  if (results.memory !== null) {
    const fixed = processesPerMachine * results.memory.idleBytes;
    const connections = (demand.connections / machines) * results.memory.perConnectionBytes;
    if (connections > 0)
      limits.push(
        limit('memory of connections, bytes a machine', Math.max(0, size.memoryBytes - fixed), connections),
      );
  }
  limits.push(
    limit(
      'network, bits/s a machine',
      LINK_SHARE * size.linkBitsPerS,
      networkBitsPerS(demand, results) / machines,
    ),
  );
  const kernelNs = kernelNsPerPoint(results);
  if (kernelNs !== undefined)
    limits.push(
      limit('conversion in the kernel, points/s', (processes * 1e9) / kernelNs, demand.peakPointsPerS),
    );
  return limits.sort((a, b) => a.times - b.times);
}

/** At the peak, of the busier direction. */
export function networkBitsPerS(demand: Demand, results: Results): number {
  let [sent, received] = [0, 0];
  for (const { kind, pointsPerMessage, messagesPerS } of demand.peak) {
    const way = results.ways.find(({ name }) => name === kind);
    if (way === undefined) continue;
    // The head of a message is small; the rest grows with its points.
    const scale = pointsPerMessage / way.pointsPerUnit;
    sent += messagesPerS * way.sentBytesPerUnit * Math.max(1, scale);
    received += messagesPerS * way.receivedBytesPerUnit * Math.max(1, scale);
  }
  return 8 * Math.max(sent, received);
}

export function kernelNsPerPoint({ ladder }: Results): number | undefined {
  return ladder.find(({ name }) => name === 'encodeBatch() of 4096')?.nsPerPoint.median;
}

/** Of one machine at the peak. */
export function memoryBytesOf(demand: Demand, sizing: Sizing, { memory }: Results): number | null {
  if (memory === null) return null;
  const perProcess = Math.max(memory.idleBytes, memory.peakBytes);
  return (
    sizing.processesPerMachine * perProcess +
    (demand.connections / sizing.machines) * memory.perConnectionBytes
  );
}
