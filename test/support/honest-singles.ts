// Honest clients beside an abuser: each sends one position at a time, on a connection that it keeps or on a new one
// for every request, and reads the answer. An answer that is late, cut or not 200 is a failure.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const ANSWER_TIMEOUT_MS = 5000;

export interface HonestTally {
  /** Latencies of the answers that came, in the order in which they came. */
  readonly latenciesMs: number[];
  /** How often each kind of failure happened. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Sends singles from `clients` connections until the signal is given; half of them connect again for each request. */
export async function sendHonestSingles(
  port: number,
  key: string,
  { clients = 8, pauseMs = 15, requests = Number.POSITIVE_INFINITY, signal }: HonestOptions = {},
): Promise<HonestTally> {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  const request = `GET /v1/hexcodes/encode?lat=21.0288&lng=105.8525 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const client = async (keepsConnection: boolean): Promise<void> => {
    let socket: Socket | undefined;
    for (let sent = 0; sent < requests && signal?.aborted !== true; sent++) {
      const startMs = performance.now();
      socket ??= connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {});
      const failure = await oneAnswer(socket, request);
      if (failure === undefined) latenciesMs.push(performance.now() - startMs);
      else failures[failure] = (failures[failure] ?? 0) + 1;
      if (failure !== undefined || !keepsConnection) {
        socket.destroy();
        socket = undefined;
      }
      await sleep(pauseMs);
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, i) => client(i % 2 === 0)));
  return { latenciesMs, failures };
}

export interface HonestOptions {
  readonly clients?: number;
  /** Between an answer and the next request of the same client. */
  readonly pauseMs?: number;
  /** Requests of each client. */
  readonly requests?: number;
  readonly signal?: AbortSignal;
}

/** Sends one request; resolves with the kind of failure, undefined for a whole answer with status 200. */
function oneAnswer(socket: Socket, request: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let received = '';
    const done = (failure?: string): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve(failure);
    };
    const onData = (bytes: Buffer): void => {
      received += bytes.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const sizeBytes = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + sizeBytes) return;
      done(received.startsWith('HTTP/1.1 200 ') ? undefined : received.slice(9, 12));
    };
    const onClose = (): void => done('closed');
    const timer = setTimeout(() => done('no answer'), ANSWER_TIMEOUT_MS);
    socket.on('data', onData);
    socket.on('close', onClose);
    socket.write(request);
  });
}
