// One HTTP call as load sends it: over a kept connection, with what a lost answer looked like.
import { type ClientRequest, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Called {
  readonly status: number;
  readonly body: Buffer;
}

/** The answer is not whole, or there is none. */
export class LostCall extends Error {
  constructor(
    message: string,
    /** A part of the answer had come. */
    readonly hadBegun: boolean,
    /** The connection had answered another call before. */
    readonly wasKept = false,
  ) {
    super(message);
  }
}

export interface Call {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The body is sent in ten pieces with a pause after each; default: all at once. */
  readonly pauseInBodyMs?: number;
}

/** Keeps connections. Certificates are those of tests. */
export function agentFor(base: string): PlainAgent {
  return base.startsWith('https:')
    ? new TlsAgent({ keepAlive: true, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true });
}

/** @throws LostCall */
export function call(
  agent: PlainAgent,
  base: string,
  { path, method, headers, body, pauseInBodyMs }: Call,
): Promise<Called> {
  return new Promise((resolve, reject) => {
    let hadBegun = false;
    const lose = (error: Error & { code?: string }): void =>
      reject(
        new LostCall(`${method} ${path}: ${error.code ?? error.message}`, hadBegun, outgoing.reusedSocket),
      );
    const request = base.startsWith('https:') ? tlsRequest : plainRequest;
    const outgoing = request(`${base}${path}`, { agent, method, headers }, (answer) => {
      hadBegun = true;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', lose);
      answer.on('end', () => {
        if (answer.complete) resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) });
        else lose(new Error('cut off'));
      });
    });
    outgoing.on('error', lose);
    if (body === undefined || pauseInBodyMs === undefined) outgoing.end(body);
    else void sendSlowly(outgoing, body, pauseInBodyMs);
  });
}

async function sendSlowly(to: ClientRequest, body: Uint8Array, pauseMs: number): Promise<void> {
  const pieceBytes = Math.ceil(body.length / 10);
  for (let at = 0; at < body.length && !to.destroyed; at += pieceBytes) {
    to.write(body.subarray(at, at + pieceBytes));
    await sleep(pauseMs);
  }
  to.end();
}
