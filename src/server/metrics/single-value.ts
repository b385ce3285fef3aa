// A metric of one value, without labels.
import type { Metric } from './registry.js';

export function gauge(name: string, help: string, value: () => number): Metric {
  return { kind: 'gauge', name, help, samples: value };
}

export function counter(name: string, help: string, value: () => number): Metric {
  return { kind: 'counter', name, help, samples: value };
}
