// Calls of the HTTP API for tests: a request by fetch, by hand or by raw bytes, and the shape of an error.

import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { parseAnswers, type RawAnswer, sendRaw, type TestServer } from './server.js';

export const ENCODE = '/v1/hexcodes/encode';
export const DECODE = '/v1/hexcodes/decode';
/** The parameters of a point that has a code. */
export const GOOD = 'lat=21.0288&lng=105.8525';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every endpoint
  body: any;
}

/** Calls with fetch; with the first key of the server unless another is given, or '' for none. */
export async function call(
  server: TestServer,
  path: string,
  init: RequestInit = {},
  key = server.key,
): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (key !== '') headers.set('X-API-Key', key);
  const response = await fetch(server.base + path, { ...init, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

export const post = (type: string, body: string | Uint8Array<ArrayBuffer>): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});

export const postJson = (text: string): RequestInit => post('application/json', text);

/** The answers to one request written by hand, with \n for its line ends. */
export async function callRaw(
  server: TestServer,
  head: string,
  body: string | Uint8Array = '',
): Promise<RawAnswer[]> {
  return parseAnswers(await sendRaw(server.port, [head.replaceAll('\n', '\r\n'), body]));
}

export interface BytesAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The bytes of an answer as they are sent: no key, no headers but these, and nothing is unpacked. */
export function getBytes(
  { port }: { readonly port: number },
  path: string,
  headers: Record<string, string> = {},
): Promise<BytesAnswer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, async (answer) => {
      const body = Buffer.concat(await answer.toArray());
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
    })
      .on('error', reject)
      .end();
  });
}

export function expectError(answer: Answer, status: number, word: string, parameters?: string[]): void {
  expect(answer.status, answer.text.slice(0, 500)).toBe(status);
  expect(answer.body.status).toBe(word);
  expect(typeof answer.body.message).toBe('string');
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  const named = answer.body.details?.map((d: { parameter: string }) => d.parameter);
  expect(named).toEqual(parameters);
}

// A client of raw bytes, on a connection that stays open until one of both closes it.

export interface RawClient {
  readonly socket: Socket;
  /** All that has come. */
  readonly text: () => string;
  readonly closed: Promise<unknown>;
}

/** @param from the address of the client, of 127.0.0.0/8 */
export function rawClient(port: number, from = '127.0.0.1'): Promise<RawClient> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    let text = '';
    socket.on('data', (bytes) => (text += bytes));
    socket.on('error', () => {});
    const closed = new Promise((over) => socket.once('close', over));
    socket.once('connect', () => resolve({ socket, text: () => text, closed }));
    socket.once('close', () => resolve({ socket, text: () => text, closed }));
  });
}

/**
 * Sends pieces with pauses. Resolves to what comes back when the end of an answer has come, or the connection is
 * closed.
 */
export async function askRaw(
  client: RawClient,
  pieces: readonly string[],
  until = /}\s*$|\n0\r\n\r\n$/,
): Promise<string> {
  const before = client.text().length;
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await sleep(20);
    client.socket.write(piece);
  }
  while (!until.test(client.text().slice(before)) && !client.socket.destroyed) await sleep(5);
  return client.text().slice(before);
}

/** The status of a call with a key. */
export const statusOf = async ({ base }: Pick<TestServer, 'base'>, key: string): Promise<number> =>
  (await fetch(`${base}/v1/meta`, { headers: { 'X-API-Key': key } })).status;

/** Waits until a server has seen a change of a key. */
export async function becomes(server: TestServer, key: string, status: number): Promise<void> {
  await expect.poll(() => statusOf(server, key)).toBe(status);
}

/** Waits until a server has logged a text. */
export async function logged(server: TestServer, text: string): Promise<void> {
  await expect.poll(() => server.log()).toContain(text);
}
