// Answers to bulk bodies that are cut off, without the package undici, which other tests of the client import: it
// replaces the connections of Node's `fetch`.

import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { HexcodesClient } from '#hexcodes/client';
import { listening } from '../../support/network.js';

const ROWS = 'lat,lng\n'.repeat(10_000);

test.each([
  ['in chunks', {}, ROWS],
  ['the last on its connection, as those to bodies in chunks are', { Connection: 'close' }, ROWS],
  ['gzipped', { Connection: 'close', 'Content-Encoding': 'gzip' }, gzipSync(ROWS).subarray(0, 60)],
] as const)('an answer %s is no whole one', async (_, headers, bytes) => {
  const { base, close } = await listening(async (req, res) => {
    await once(req.resume(), 'end');
    res.writeHead(200, { 'Content-Type': 'text/csv', ...headers });
    res.write(bytes, () => setTimeout(() => req.socket.destroy(), 50));
  });
  onTestFinished(close);
  const client = new HexcodesClient({ baseUrl: `${base}/v1` });
  const answer = await client.bulk({ operation: 'encode', format: 'csv', source: ['lat,lng\n'] });
  await expect(new Response(answer.readable).text()).rejects.toMatchObject({ code: 'NETWORK' });
});

test('an answer of 101 is no answer', async () => {
  const { base, close } = await listening((req, res) =>
    req.resume().on('end', () => res.writeHead(101, { Connection: 'Upgrade', Upgrade: 'other' }).end()),
  );
  onTestFinished(close);
  const answer = new HexcodesClient({ baseUrl: base }).bulk({
    operation: 'encode',
    format: 'csv',
    source: [],
  });
  await expect(answer).rejects.toMatchObject({ code: 'NETWORK' });
});
