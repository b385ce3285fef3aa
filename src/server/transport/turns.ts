// Counts within one turn of the event loop. uWS reads a socket again and again while the peer fills its receive buffer, and
// runs nothing else meanwhile (README U28): what one peer may do in a turn has to be bounded by counting.

/** Requests of one turn, of all connections together; uWS does not say which connection a request came by. */
const REQUESTS_PER_TURN = 1000;
/** And so many more for each open connection: in a long turn uWS may serve each of them more than once. */
const REQUESTS_PER_CONNECTION = 4;
export class Turns {
  #requests = 0;
  #isOver = true;
  #number = 0;
  #connections = 0;

  /** Changes with every turn in which it is asked for. */
  get number(): number {
    if (this.#isOver) {
      this.#isOver = false;
      setImmediate(() => {
        this.#isOver = true;
        this.#number++;
        this.#requests = 0;
      });
    }
    return this.#number;
  }

  /** For every connection that opens (1), closes, or becomes a WebSocket (-1). */
  countConnection(change: number): void {
    this.#connections += change;
  }

  /**
   * Counts a request. False if it is one too many: its connection must be closed. The count then starts anew, so that the
   * next connection of the turn is not closed for what this one did.
   */
  takeRequest(): boolean {
    void this.number;
    if (++this.#requests <= REQUESTS_PER_TURN + REQUESTS_PER_CONNECTION * this.#connections) return true;
    this.#requests = 0;
    return false;
  }
}
