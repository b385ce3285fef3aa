// Versions, provinces and health on the real server.
import { get as httpGet } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadUws } from '#dist/server/transport/load-uws.js';
import { call } from '../../../support/http-calls.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('/v1/meta has the versions and the notice of the index', async () => {
  const { body } = await call(server, '/v1/meta');
  expect(body.transport).toEqual((await loadUws()).build);
  expect(body).toMatchObject({
    status: 'OK',
    service: { name: 'hexcodes' },
    code_format: 1,
    boundary_data: { source: 'made up', licence: 'none', notice: 'made up', date: '2026-01-01' },
  });
  expect(body.boundary_data.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('/v1/admin-units has the 34 provinces; a single one has its boundary', async () => {
  const { body } = await call(server, '/v1/admin-units');
  expect(body.admin_units).toHaveLength(34);
  expect(body.admin_units[11]).toEqual({ admin_code: 'HN', name: 'Hà Nội', merged_units: ['Hà Nội'] });
  const one = await call(server, '/v1/admin-units/HN');
  expect(one.body).toMatchObject({ admin_code: 'HN', boundary: { type: 'Feature' } });
  expect(one.body.boundary.geometry.type).toBe('MultiPolygon');
  expect((await call(server, '/v1/admin-units/hn')).body).toEqual(one.body);
  for (const code of ['XX', '%48N', 'HN/']) {
    expect((await call(server, `/v1/admin-units/${code}`)).status).toBe(404);
  }
});

test('/livez and /readyz are on the admin port only, without a key', async () => {
  for (const path of ['/livez', '/readyz']) {
    expect((await fetch(`http://127.0.0.1:${server.adminPort}${path}`)).status).toBe(200);
    expect((await call(server, path)).status).toBe(404);
  }
  expect((await fetch(`http://127.0.0.1:${server.adminPort}/v1/meta`)).status).toBe(404);
});

test.each(['/docs', '/openapi.json'])('%s is compressed as its reader accepts', async (path) => {
  const raw = (accepted: string): Promise<{ encoding: string | undefined; tag: string; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const headers = accepted === '' ? {} : { 'accept-encoding': accepted };
      httpGet(`${server.base}${path}`, { headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            encoding: answer.headers['content-encoding'],
            tag: answer.headers.etag ?? '',
            body: Buffer.concat(chunks),
          }),
        );
      }).on('error', reject);
    });
  const plain = await raw('');
  const br = await raw('gzip, br');
  const gzip = await raw('gzip');
  expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, 'br', 'gzip']);
  expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(br.body.length).toBeLessThan(plain.body.length / 5);
  expect(new Set([plain.tag, br.tag, gzip.tag]).size).toBe(3);
});
