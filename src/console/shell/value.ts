// A value that parts of the page share, and are told of when it changes.

export class Value<T> {
  readonly #listeners = new Set<(value: T) => void>();

  constructor(public now: T) {}

  set(value: T): void {
    this.now = value;
    this.tell();
  }

  /** Tells all of the value as it is, after a change inside it or of the language. */
  tell(): void {
    for (const listener of this.#listeners) listener(this.now);
  }

  /** Calls `listener` at each change. */
  on(listener: (value: T) => void): void {
    this.#listeners.add(listener);
  }

  /** Calls `listener` now and at each change. */
  each(listener: (value: T) => void): void {
    this.on(listener);
    listener(this.now);
  }
}
