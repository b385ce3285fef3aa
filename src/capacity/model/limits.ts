// The limits that a plan meets as its fleet grows, the nearest first: each with how many times this fleet it carries.
import type { Results } from '../measure/results.js';
import type { Demand } from './fleet.js';
import type { Layout, Sizing } from './sizing.js';
import { LINK_SHARE, type MachineSize, mostPointsPerS, networkBitsPerS, processBytesOf } from './space.js';

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

export const CPU_LIMIT = 'CPU and p99, messages/s a process';
/** Defaults of the service, for each process: HEXCODES_MAX_CONNECTIONS and HEXCODES_MAX_SOCKETS_PER_KEY. */
const MOST_CONNECTIONS = 50_000;
const MOST_SOCKETS_OF_KEY = 20_000;

/** @param timesCarried of this load, by CPU and p99 */
export function limitsOf(
  demand: Demand,
  sizing: Sizing,
  timesCarried: number,
  results: Results,
  size: MachineSize,
): Limit[] {
  const { machines, processesPerMachine, streams } = sizing;
  const processes = machines * processesPerMachine;
  const limit = (name: string, carries: number, asks: number): Limit => ({
    ...{ name, carries, asks },
    times: carries / asks,
  });
  const perS = streams.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);
  const limits = [limit(CPU_LIMIT, timesCarried * perS, perS)];
  // A larger fleet behind as many gateways has no more connections.
  const isGrowing = demand.mostFlushMs === 0;
  if (isGrowing)
    limits.push({
      ...limit('connections', MOST_CONNECTIONS * processes, demand.connections),
      setting: 'HEXCODES_MAX_CONNECTIONS',
    });
  if (isGrowing && demand.peak[0]!.kind === 'stream')
    limits.push({
      ...limit('WebSockets of one key', MOST_SOCKETS_OF_KEY * processes, demand.connections),
      setting: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    });
  if (isGrowing && results.memory !== null) {
    const fixed = processesPerMachine * processBytesOf(results.memory);
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
      limit('conversion in the kernel, points/s', (processes * 1e9) / kernelNs, mostPointsPerS(demand)),
    );
  return limits.sort((a, b) => a.times - b.times);
}

export function kernelNsPerPoint({ ladder }: Results): number | undefined {
  return ladder.find(({ name }) => name === 'encodeBatch() of 4096')?.nsPerPoint.median;
}

/** Memory of one machine at the peak. */
export function memoryBytesOf(demand: Demand, layout: Layout, { memory }: Results): number | null {
  if (memory === null) return null;
  const { machines, processesPerMachine } = layout;
  return (
    processesPerMachine * processBytesOf(memory) + (demand.connections / machines) * memory.perConnectionBytes
  );
}
