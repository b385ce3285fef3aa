// Counts within one turn of the event loop. uWS reads a socket again and again while the peer fills its receive buffer,
// and runs nothing else meanwhile (README U28): what one peer may do in a turn has to be bounded by counting.

/** Requests of one turn, of all connections together; uWS does not say which connection a request came by. */
const REQUESTS_PER_TURN = 1000;
/** Further requests of a turn for each open connection: in a long turn uWS may serve each more than once. */
const REQUESTS_PER_CONNECTION = 4;

export class Turns {
  #requests = 0;
  #isOver = true;
  #number = 0;
  #connections = 0;

  /** Id of the current event-loop turn. */
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

  /** Counts every connection that opens (1), closes, or becomes a WebSocket (-1). */
  countConnection(change: number): void {
    this.#connections += change;
  }

  /**
   * Counts a request. False if it is one too many: its connection must be closed. The count then restarts, so that the
   * next connection of the turn is not closed for what this one did.
   */
  takeRequest(): boolean {
    void this.number;
    if (++this.#requests <= REQUESTS_PER_TURN + REQUESTS_PER_CONNECTION * this.#connections) return true;
    this.#requests = 0;
    return false;
  }
}

/** Frames and bytes that one WebSocket may have answered in the turn in which they came. */
const FRAMES_AT_ONCE = 64;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/**
 * Frames and bytes of a turn that make a socket a flood: it breaks the window of docs/stream.md, or sends pings without
 * end.
 */
const FLOOD_FRAMES = 1000;
const FLOOD_BYTES = 16 * 1024 * 1024;

/**
 * Frames and bytes of one WebSocket in the current turn. Answers that wait for the next turn keep the window of the
 * peer full, so a peer that keeps to it stops sending, and the turn ends; any other is closed.
 */
export class SocketTurn {
  #turn = -1;
  #frames = 0;
  #bytes = 0;

  constructor(private readonly turns: Turns) {}

  /** Counts a message, a ping or a pong of `sizeBytes`, and says how it is handled. */
  take(sizeBytes: number): 'answer now' | 'answer in a later turn' | 'close the socket' {
    const turn = this.turns.number;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#frames = 0;
      this.#bytes = 0;
    }
    this.#frames++;
    this.#bytes += sizeBytes;
    if (this.#frames <= FRAMES_AT_ONCE && this.#bytes <= BYTES_AT_ONCE) return 'answer now';
    const isFlood = this.#frames > FLOOD_FRAMES || this.#bytes > FLOOD_BYTES;
    return isFlood ? 'close the socket' : 'answer in a later turn';
  }
}
