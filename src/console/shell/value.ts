// A value that parts of the page share, with notification of changes.

// The few choices of the visitor that outlive a visit: language and theme. A browser that stores nothing is not a
// fault.

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this visit.
  }
}

/** Loads something once. If that fails, as without a network, the next call retries. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

export class Value<T> {
  readonly #listeners = new Set<(value: T) => void>();

  constructor(public now: T) {}

  set(value: T): void {
    this.now = value;
    this.tell();
  }

  /** Notifies all listeners, after a change inside the value or of the language. */
  tell(): void {
    for (const listener of this.#listeners) listener(this.now);
  }

  /** Calls `listener` at each change. @returns ends this */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `listener` now and at each change. */
  each(listener: (value: T) => void): void {
    this.on(listener);
    listener(this.now);
  }
}

// Storage key of the visitor's zones. The first load only asks whether there are any, so it needs no more.
export const ZONES_KEY = 'hexcodes-zones';
