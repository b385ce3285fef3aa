// The programs of examples/ against the real server. The Python client was written from docs/stream.md alone, so it
// also shows that the page is enough.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { openWorld, pointsOf } from '../support/open-world.js';
import { startServer, type TestServer } from '../support/server.js';

const POINTS = 100_000;
const RESOLUTION = 11;
const STATUSES = ['OK', 'OUTSIDE_COVERAGE', 'NOT_A_COORDINATE'];
const hasPython = spawnSync('python3', ['--version']).status === 0;

const pairsDeg = pointsOf(16, POINTS);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ logLevel: 'warn' });
});
afterAll(() => server.stop());

/** The lines that the client must print: code and status of each position, as the library has them. */
function dueLines(): string[] {
  const records = Buffer.from(Hexcodes.from(openWorld()).encodeBatch(pairsDeg, RESOLUTION).buffer);
  return Array.from({ length: POINTS }, (_, i) => {
    const record = records.subarray(20 * i, 20 * i + 20);
    return `${record.toString('latin1', 0, 19).replace(/\0+$/, '')},${STATUSES[record[19]!]}`;
  });
}

const allLines = (): string =>
  Array.from({ length: POINTS }, (_, i) => `${pairsDeg[2 * i]},${pairsDeg[2 * i + 1]}\n`).join('');

/** Runs the client over lines; what it prints on standard output and error. */
async function runClient(
  port: number,
  key = server.key,
  input = allLines(),
): Promise<{ lines: string[]; stderr: string }> {
  const url = `ws://127.0.0.1:${port}/v1/hexcodes/stream`;
  const client = spawn('python3', ['examples/stream_client.py', url, String(RESOLUTION)], {
    env: { PATH: process.env.PATH, HEXCODES_KEY: key },
  });
  let stdout = '';
  let stderr = '';
  client.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString('latin1')));
  client.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  client.stdin.on('error', () => {});
  client.stdin.end(input);
  await once(client, 'close');
  return { lines: stdout.split('\n').slice(0, -1), stderr };
}

/** A relay to the server that cuts its first connections, each after a number of bytes from the server. */
async function openCuttingRelay(cutAfterBytes: number[]): Promise<Server> {
  const relay = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    let leftBytes = cutAfterBytes.shift() ?? Number.POSITIVE_INFINITY;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, leftBytes));
      leftBytes -= bytes.length;
      if (leftBytes <= 0) end();
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return relay;
}

describe.skipIf(!hasPython)('stream_client.py (needs python3)', () => {
  test('encodes 100,000 positions as the library does, in their order', async () => {
    const { lines, stderr } = await runClient(server.port);
    expect(stderr).toBe('');
    expect(lines).toEqual(dueLines());
  });

  test('connects again where the connection is lost: no position is lost or doubled', async () => {
    // In the head of the handshake, in the first answer, and behind more answers than the window lets wait.
    const cuts = [50, 400, 1_700_000];
    const relay = await openCuttingRelay(cuts);
    try {
      const { lines, stderr } = await runClient((relay.address() as AddressInfo).port);
      expect(stderr).toBe('');
      expect(lines).toEqual(dueLines());
      expect(cuts).toEqual([]);
    } finally {
      relay.close();
    }
  });

  test('a line that is no position is answered in its place', async () => {
    const input = 'lat,lng\n21.0288,105.8525\n1,2,3\n\n';
    const { lines, stderr } = await runClient(server.port, server.key, input);
    expect(stderr).toBe('');
    const none = ',NOT_A_COORDINATE';
    expect(lines).toEqual([none, expect.stringMatching(/^QNH-6GHP4-\w+,OK$/), none, none]);
  });

  test('says why it is refused', async () => {
    const { lines, stderr } = await runClient(server.port, 'nobody');
    expect(lines).toEqual([]);
    expect(stderr).toContain('refused with HTTP 401: {"status":"REQUEST_DENIED"');
  });
});
