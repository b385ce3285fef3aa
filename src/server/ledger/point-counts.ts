// Counts converted points and codes, of the whole service and of each key.

import { OPERATIONS, type UsageOperation } from '../usage/batch.js';

/** Keys that are counted one by one; those that come later share the name ''. */
const MAX_KEYS = 10_000;

export interface KeyCounts {
  requests: number;
  points: number;
  /** Time of its last request or frame, by performance.now(). */
  lastMs: number;
}

export class PointCounts {
  /** OK and failed of each operation, two numbers that follow each other. */
  readonly #counts = new Float64Array(2 * OPERATIONS.length);
  readonly #keys = new Map<string, KeyCounts>();

  /** Counts points of a key. `operation`: an index in OPERATIONS. */
  add(key: KeyCounts, operation: number, ok: number, failed: number): void {
    const index = 2 * operation;
    this.#counts[index]! += ok;
    this.#counts[index + 1]! += failed;
    key.points += ok + failed;
  }

  get byOutcome(): readonly { operation: UsageOperation; outcome: 'ok' | 'failed'; count: number }[] {
    return OPERATIONS.filter((operation) => operation !== 'lookup').flatMap((operation) => {
      const index = 2 * OPERATIONS.indexOf(operation);
      return [
        { operation, outcome: 'ok' as const, count: this.#counts[index]! },
        { operation, outcome: 'failed' as const, count: this.#counts[index + 1]! },
      ];
    });
  }

  /** The keys with a request since that time. */
  keysSince(sinceMs: number): Map<string, Readonly<KeyCounts>> {
    return new Map([...this.#keys].filter(([, { lastMs }]) => lastMs >= sinceMs));
  }

  /** The counts of a key, which are asked for once. */
  of(keyId: string): KeyCounts {
    let key = this.#keys.get(keyId);
    if (key === undefined) {
      if (this.#keys.size >= MAX_KEYS && keyId !== '') return this.of('');
      key = { requests: 0, points: 0, lastMs: 0 };
      this.#keys.set(keyId, key);
    }
    return key;
  }
}
