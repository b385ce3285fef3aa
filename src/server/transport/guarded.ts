// The state of an exchange, and its callbacks: whatever they throw, wherever they run, ends at one error policy. An
// exception that reached uWS would end the process (README U6).

export abstract class Guarded {
  /** 'answering': the status line is written; 'over': the answer is complete or the connection closed. */
  state: 'open' | 'answering' | 'over' = 'open';
  /** Called once when the state is 'over'. */
  onOver: (() => void) | undefined = undefined;

  /** Handles an error: answers it if no answer has begun, else closes the connection. */
  protected abstract thrown(error: unknown): void;

  /** Runs a callback unless the state is 'over'; `thrown` handles what it throws. */
  guard(work: () => void): void {
    if (this.state === 'over') return;
    try {
      work();
    } catch (error) {
      this.thrown(error);
    }
  }

  /** `guard` in a turn of the event loop of its own. */
  nextTurn(work: () => void): void {
    setImmediate(() => this.guard(work));
  }

  /** `guard` with the value of a promise; `reject` handles its rejection. */
  after<T>(promise: Promise<T>, work: (value: T) => void): void {
    promise.then(
      (value) => this.guard(() => work(value)),
      (error: unknown) => this.reject(error),
    );
  }

  /** Ends the exchange over an error, unless it is over. */
  reject(error: unknown): void {
    if (this.state !== 'over') this.thrown(error);
  }

  protected notifyOver(): void {
    const { onOver } = this;
    if (onOver === undefined) return;
    this.onOver = undefined;
    try {
      onOver();
    } catch (error) {
      this.thrown(error);
    }
  }
}
