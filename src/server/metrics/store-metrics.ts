// The metrics of the stores: of keys, and of usage.
import type { Metric } from './registry.js';
import { counter, gauge } from './single-value.js';

export interface StoreStates {
  readonly keys: () => { readonly loaded: number; readonly fault: boolean };
  readonly usage: () => { readonly fault: boolean; readonly failures: number };
}

export function storeMetrics({ keys, usage }: StoreStates): Metric[] {
  return [
    gauge('hexcodes_keys', 'API keys in memory.', () => keys().loaded),
    gauge('hexcodes_key_store_fault', 'Whether the key store cannot be read.', () => Number(keys().fault)),
    gauge('hexcodes_usage_store_fault', 'Whether usage cannot be stored and waits in memory.', () =>
      Number(usage().fault),
    ),
    counter(
      'hexcodes_usage_flush_failures_total',
      'How often the store of usage could not be used.',
      () => usage().failures,
    ),
  ];
}
