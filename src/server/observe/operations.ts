// The operations that requests are counted as, in usage and in metrics: by an index in this list.

export const OPERATIONS = [
  'encode',
  'decode',
  'encode_batch',
  'decode_batch',
  'encode_bulk',
  'decode_bulk',
  'stream',
  /** One code, suggestions, the grid, provinces, versions and usage itself. */
  'lookup',
] as const;
export type UsageOperation = (typeof OPERATIONS)[number];
