// Whether balancers should send requests here, and what a person should see to: what /readyz of the admin port says.

/** The answer of /readyz. */
export interface ReadinessPage {
  readonly status: 200 | 503;
  /** Lines for people; the first is `ready` or `not ready`. */
  readonly text: string;
}

export class Readiness {
  #reason: string | undefined = 'the service is starting';
  /** Called when the reason has changed. */
  onChange: (() => void) | undefined;
  readonly #warnings: (() => string | undefined)[] = [];

  /** Requests are accepted. */
  accept(): void {
    this.#reason = undefined;
    this.onChange?.();
  }

  /** Balancers should send no more requests, for a reason that follows `reason: `. */
  refuse(reason: string): void {
    this.#reason = reason;
    this.onChange?.();
  }

  /**
   * Adds a source of warnings, each a sentence; it is asked whenever the page is, and says undefined while all is well.
   */
  addWarning(source: () => string | undefined): void {
    this.#warnings.push(source);
  }

  get page(): ReadinessPage {
    const warnings = this.#warnings.flatMap((source) => {
      const sentence = source();
      return sentence === undefined ? [] : [`warning: ${sentence}`];
    });
    const head = this.#reason === undefined ? ['ready'] : ['not ready', `reason: ${this.#reason}`];
    return { status: this.#reason === undefined ? 200 : 503, text: `${[...head, ...warnings].join('\n')}\n` };
  }
}
