// The limits of a stream and its consumer, as the setup of workers and that of jobs take them.
import type { Command } from 'commander';
import { requireCount, requireSize, requireTime } from './quantities.js';

export interface LimitOptions {
  readonly maxBytes: string;
  readonly maxAge: string;
  readonly replicas: string;
  readonly ackWait: string;
}

/** Words and default of each option that differ between commands. */
type LimitWords = Readonly<
  Record<'maxBytes' | 'maxAge' | 'ackWait', readonly [about: string, value: string]>
>;

export function addLimitOptions(command: Command, { maxBytes, maxAge, ackWait }: LimitWords): Command {
  return command
    .option('--max-bytes <size>', ...maxBytes)
    .option('--max-age <time>', ...maxAge)
    .option('--replicas <n>', 'servers that hold each message: 1, 3 or 5', '1')
    .option('--ack-wait <time>', ...ackWait);
}

export interface StreamLimits {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  readonly replicas: number;
  readonly ackWaitMs: number;
}

/** @throws CliFailure USAGE */
export const limitsOf = ({ maxBytes, maxAge, replicas, ackWait }: LimitOptions): StreamLimits => ({
  maxBytes: requireSize('--max-bytes', maxBytes),
  maxAgeMs: requireTime('--max-age', maxAge),
  replicas: requireCount('--replicas', replicas, 1, 5),
  ackWaitMs: requireTime('--ack-wait', ackWait),
});
