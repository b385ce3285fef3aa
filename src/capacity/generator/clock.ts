// Time as the loops of the generator see it. Tests put a simulated clock in its place.

export interface Clock {
  /** Milliseconds since any moment, with fractions. */
  nowMs(): number;
  /** Calls back once the sockets have been looked at. */
  nextTurn(callback: () => void): void;
}

/** The clock of this process. Its turns never sleep: a timer of Node would be up to a millisecond late. */
export const SPINNING_CLOCK: Clock = {
  nowMs: () => performance.now(),
  nextTurn: (callback) => void setImmediate(callback),
};
