// The metrics of positions that go on to a sink.
import type { Metric } from './registry.js';
import { counter, gauge } from './single-value.js';

/** All 0 where no sink is set. */
export interface ForwardState {
  readonly waiting: number;
  readonly delivered: number;
  readonly refused: number;
  readonly isAway: boolean;
}

export function forwardMetrics(forward: () => ForwardState): Metric[] {
  return [
    gauge('hexcodes_forward_sink_away', 'Whether the sink of positions takes none.', () =>
      Number(forward().isAway),
    ),
    gauge(
      'hexcodes_forward_waiting_positions',
      'Positions on disk that their sink has not taken yet.',
      () => forward().waiting,
    ),
    counter(
      'hexcodes_forward_delivered_total',
      'Positions that their sink has taken.',
      () => forward().delivered,
    ),
    counter(
      'hexcodes_forward_refused_total',
      'Positions refused because as many wait as may, or the disk takes none.',
      () => forward().refused,
    ),
  ];
}
