// The micro service on the bus: frames and JSON batches as over HTTP, errors by the protocol of services, discovery and
// counts.
import { readFileSync } from 'node:fs';
import { ServiceError, Svcm } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '#dist/hexcodes/version.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';
import { startServer, type TestServer } from '../../support/server.js';

describe.skipIf(noNats !== undefined)(`hexcodes worker service${natsNote}`, () => {
  let server: NatsServer;
  let http: TestServer;
  let nc: NatsConnection;
  const instances: WorkerProcess[] = [];
  beforeAll(async () => {
    // No JetStream is needed.
    server = await NatsServer.start(() => []);
    const [kernel, index, reach] = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map((path) =>
      readFileSync(path),
    );
    http = await startServer({}, { kernel: kernel!, index: index!, reach: reach! });
    nc = await server.connect();
    for (let i = 0; i < 2; i++) instances.push(new WorkerProcess(server.url, ['service']));
    for (const instance of instances) await instance.says('answers hexcodes.encode and hexcodes.decode');
  });
  afterAll(async () => {
    for (const instance of instances) await instance.end('SIGKILL');
    await http.stop();
    await server.remove();
  });
  const ask = (operation: string, request: Uint8Array | string) =>
    nc.request(`hexcodes.${operation}`, request, { timeout: 20_000 });

  test('a frame is answered as by the library', async () => {
    const latLng = positionsOf(3, 5000);
    const { data } = await ask('encode', encodeFrame(latLng, 4));
    expect(Buffer.compare(data, answerByLibrary(await loadLibrary(), latLng, 4))).toBe(0);
  });

  test.each([
    [
      'encode',
      {
        points: [
          { lat: 21.03, lng: 105.85, id: 7 },
          { lat: 1, lng: 1 },
        ],
        resolution: 9,
      },
    ],
    ['decode', { hexcodes: ['HN-6GHP4-83RFR', 'x'] }],
  ])('a JSON batch to %s is answered as over HTTP', async (operation, batch) => {
    const body = JSON.stringify(batch);
    const answer = await fetch(`${http.base}/v1/hexcodes/${operation}/batch`, {
      ...{ method: 'POST', body },
      headers: { 'X-API-Key': http.key, 'Content-Type': 'application/json' },
    });
    expect((await ask(operation, body)).string()).toBe(await answer.text());
  });

  test.each([
    ['encode', '{', 400, /body/],
    ['encode', '{"hexcodes":[]}', 400, /points is required/],
    ['decode', encodeFrame(positionsOf(1, 2)), 400, /not one to decode/],
    ['encode', encodeFrame(positionsOf(1, 2)).subarray(1), 400, /no whole frame/],
    ['encode', encodeFrame(positionsOf(1, 2)).subarray(0, -1), 400, /no whole frame/],
    ['encode', JSON.stringify({ points: Array(10_001).fill({}) }), 413, /at most 10000/],
    ['encode', encodeFrame(positionsOf(1, 60_000)), 413, /larger than the servers take/],
  ])('%s %#: refused with %i', async (operation, request, code, words) => {
    const error = ServiceError.toServiceError((await ask(operation, request)) as never);
    expect([error?.code, error?.message]).toEqual([code, expect.stringMatching(words)]);
  });

  test('instances are found, share the requests and count points', async () => {
    const client = new Svcm(nc as never).client();
    const found = [];
    for await (const info of await client.info('hexcodes')) found.push(info);
    expect(found.map(({ name, version }) => [name, version])).toEqual([
      ['hexcodes', VERSION],
      ['hexcodes', VERSION],
    ]);
    expect(found[0]?.endpoints.map(({ subject }) => subject).sort()).toEqual([
      'hexcodes.decode',
      'hexcodes.encode',
    ]);
    const latLng = positionsOf(3, 10);
    const points = async (): Promise<number> => {
      let sum = 0;
      for await (const { endpoints = [] } of await client.stats('hexcodes'))
        for (const { subject, data } of endpoints)
          if (subject === 'hexcodes.encode') sum += (data as { points: number }).points;
      return sum;
    };
    const before = await points();
    for (let i = 0; i < 20; i++) await ask('encode', encodeFrame(latLng));
    expect((await points()) - before).toBe(200);
  });

  test('stopped, it answers no more, and ends with 0', async () => {
    for (const instance of instances) expect(await instance.end()).toBe(0);
    await expect(ask('encode', '{"points":[]}')).rejects.toThrow(/no responders/i);
  });
});
