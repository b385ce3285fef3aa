// The recorded vectors over HTTP with the shipped data: every code decodes to its centre, and every position encodes
// to its code. And several HTTP clients get the same answer.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get as nodeGet } from 'node:http';
import { promisify } from 'node:util';
import { request as undiciRequest } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { startServer, type TestServer } from '../../support/server.js';
import { CODE_ROWS } from '../../support/vectors.js';

const run = promisify(execFile);
const files = {
  kernel: readFileSync('dist/kernel.wasm'),
  index: readFileSync('data/index.bin'),
  reach: readFileSync('data/reach.bin'),
};
const library = Hexcodes.from(files);
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ logLevel: 'warn' }, files);
});
afterAll(() => server.stop());

async function call(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${server.base}/v1/hexcodes/${path}&apikey=${server.key}`, { method: 'POST' });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('every row of codes.csv: its code from its position, its centre from its code', async () => {
  expect(CODE_ROWS.length).toBeGreaterThan(600);
  for (const row of CODE_ROWS) {
    const decoded = await call(`decode?hexcodes=${row.code}`);
    expect(decoded.body, row.code).toMatchObject({
      hexcodes: row.code,
      resolution: row.resolution,
      status: 'OK',
    });
    expect(Math.abs((decoded.body.lat as number) - row.centerLat), row.code).toBeLessThan(1e-9);
    expect(Math.abs((decoded.body.lng as number) - row.centerLng), row.code).toBeLessThan(1e-9);

    // Every recorded position lies in the province that its row names.
    const { lat, lng, resolution, adminCode, code } = row;
    const { body } = await call(`encode?lat=${lat}&lng=${lng}&resolution=${resolution}`);
    expect(body).toEqual({ hexcodes: code, lat, lng, resolution, admin_code: adminCode, status: 'OK' });
  }
});

test('answers equal those of the library', async () => {
  for (const [lat, lng] of [
    [10.7769, 106.7009],
    [16.0544, 108.2022],
    [8.6, 104.72],
    [22.3364, 103.8438],
    [10.2899, 103.984],
  ] as const) {
    for (const resolution of [0, 7, 13, 15]) {
      const { body } = await call(`encode?lat=${lat}&lng=${lng}&resolution=${resolution}`);
      expect(body).toEqual({ ...library.encode(lat, lng, resolution), status: 'OK' });
    }
  }
});

async function found(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}

test('curl, undici, node:http and Python’s http.client get the same answer as fetch', async () => {
  const path = `/v1/hexcodes/encode?lat=21.0288&lng=105.8525&apikey=${server.key}`;
  const wanted = await (await fetch(server.base + path)).text();
  expect(JSON.parse(wanted)).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR', status: 'OK' });

  expect(await (await undiciRequest(server.base + path, { method: 'POST' })).body.text()).toBe(wanted);
  const byNode = await new Promise((resolve, reject) => {
    nodeGet(server.base + path, (answer) => {
      let text = '';
      answer.on('data', (bytes) => {
        text += bytes;
      });
      answer.on('end', () => resolve(text));
    }).on('error', reject);
  });
  expect(byNode).toBe(wanted);
  if (await found('curl')) {
    expect((await run('curl', ['-s', '-X', 'POST', server.base + path])).stdout).toBe(wanted);
    const json = ['-H', 'Content-Type: application/json', '-d', '{"lat":21.0288,"lng":105.8525}'];
    const { stdout } = await run('curl', [
      '-s',
      ...json,
      `${server.base}/v1/hexcodes/encode?apikey=${server.key}`,
    ]);
    expect(stdout).toBe(wanted);
  }
  if (await found('python3')) {
    const script = `
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", ${server.port})
for method in ("GET", "POST"):
    c.request(method, sys.argv[1])
    print(c.getresponse().read().decode())`;
    const { stdout } = await run('python3', ['-c', script, path]);
    expect(stdout.trim().split('\n')).toEqual([wanted, wanted]);
  }
});
