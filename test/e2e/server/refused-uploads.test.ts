// Uploads that are refused while most of them is still to come: curl, urllib, fetch and the client of this package get
// the reason each time. The large twin is `npm run proof -- proxies`.
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REFUSALS, sendRefusedUpload, UPLOAD_CLIENTS } from '../../support/refused-uploads.js';
import { COMMAND_KEY, ServeCommand } from '../../support/serve-command.js';
import { sendRaw } from '../../support/server.js';

const PROGRAMS = { curl: 'curl', 'curl in chunks': 'curl', urllib: 'python3' } as Record<string, string>;
const MEGABYTES = 12;

let service: ServeCommand;
let base = '';
beforeAll(async () => {
  service = new ServeCommand([]);
  base = await service.base();
});
afterAll(() => service.remove());

describe.each(UPLOAD_CLIENTS)('%s', (client) => {
  const program = PROGRAMS[client];
  const isHere = program === undefined || spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  test.skipIf(!isHere).each(REFUSALS)('gets the reason for $name, 5 times of 5', async (refusal) => {
    const faults: string[] = [];
    for (let time = 0; time < 5; time++) {
      const fault = await sendRefusedUpload(client, base, COMMAND_KEY, refusal, MEGABYTES);
      if (fault !== undefined) faults.push(fault);
    }
    expect(faults).toEqual([]);
  });
});

const head = (headers: string): string =>
  `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nX-API-Key: ${COMMAND_KEY}\r\n${headers}\r\n\r\n`;

test('a small body that is refused is skipped, and what follows in the same segment is answered', async () => {
  const { port } = new URL(base);
  const answers = await sendRaw(
    Number(port),
    `${head('Content-Length: 5')}abcde${head('Content-Length: 3')}xyz`,
  );
  expect(answers.match(/HTTP\/1\.1 415/g)).toHaveLength(2);
  expect(answers).toContain('Connection: close');
});

test('at most 64 bodies of one key are read on at a time, and none is for long', async () => {
  const { port } = new URL(base);
  const sockets = Array.from({ length: 80 }, () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(head('Content-Length: 100000000'));
    return socket;
  });
  await sleep(1500);
  const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
  expect(open).toBe(64);
  for (const socket of sockets) socket.destroy();
  // Those that went away have made place for others.
  await sleep(300);
  const fault = await sendRefusedUpload('fetch', base, COMMAND_KEY, REFUSALS[2]!, MEGABYTES);
  expect(fault).toBe(undefined);
});
