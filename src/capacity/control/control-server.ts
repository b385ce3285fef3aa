// A server whose latencies are known, to test the generator against: it answers HTTP requests without a body with a
// constant. When each answer is due is reckoned from its arrival; the answers leave in the order of that, by a loop
// that never sleeps.
import { createServer, type Socket } from 'node:net';
import { Latencies } from '../generator/latencies.js';

export type Behaviour =
  | { readonly kind: 'echo' }
  /** Every answer takes this time. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Nothing is answered in the first `stallMs` of every `everyMs`; all else at once. */
  | { readonly kind: 'stall'; readonly everyMs: number; readonly stallMs: number };

/** Answers when a request of a moment has its answer, for requests in the order of their arrival. */
export function answerTimes(behaviour: Behaviour, startMs: number): (arrivalMs: number) => number {
  switch (behaviour.kind) {
    case 'echo':
      return (arrivalMs) => arrivalMs;
    case 'delay':
      return (arrivalMs) => arrivalMs + behaviour.delayMs;
    case 'stall':
      return (arrivalMs) => {
        const intoMs = (arrivalMs - startMs) % behaviour.everyMs;
        return intoMs < behaviour.stallMs ? arrivalMs - intoMs + behaviour.stallMs : arrivalMs;
      };
  }
}

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok');
const REQUEST_END = '\r\n\r\n';

export interface ControlServer {
  readonly port: number;
  /**
   * From the arrival of each request to the moment its answer was written. On a machine that others use too this loop
   * is stopped at times, and an answer leaves later than it is due.
   */
  readonly delays: Latencies;
  stop(): void;
}

/** Listens on a free port of the loopback. */
export function startControlServer(behaviour: Behaviour): Promise<ControlServer> {
  const answerTime = answerTimes(behaviour, performance.now());
  const due: { readonly arrivalMs: number; readonly atMs: number; readonly socket: Socket }[] = [];
  const delays = new Latencies();
  let first = 0;
  const turn = (): void => {
    const nowMs = performance.now();
    for (; first < due.length && due[first]!.atMs <= nowMs; first++) {
      const { arrivalMs, socket } = due[first]!;
      socket.write(ANSWER);
      delays.recordMs(performance.now() - arrivalMs);
    }
    if (first === due.length) {
      due.length = first = 0;
      return;
    }
    setImmediate(turn);
  };
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    let rest = '';
    socket.on('data', (bytes) => {
      const arrivalMs = performance.now();
      const parts = (rest + bytes.toString('latin1')).split(REQUEST_END);
      rest = parts.pop()!;
      const wasIdle = due.length === 0;
      for (const _ of parts) due.push({ arrivalMs, atMs: answerTime(arrivalMs), socket });
      if (wasIdle && due.length > 0) turn();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address() as { port: number };
      resolve({ port: address.port, delays, stop: () => server.close() });
    });
  });
}
