// The time by which a status line must be written.

export class Deadline {
  #timer: NodeJS.Timeout | undefined;

  get isSet(): boolean {
    return this.#timer !== undefined;
  }

  /** Calls `passed` after that time. Replaces an earlier deadline. */
  set(timeoutMs: number, passed: () => void): void {
    this.clear();
    this.#timer = setTimeout(passed, timeoutMs);
  }

  clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
