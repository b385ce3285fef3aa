// A client that openapi-typescript makes of the description.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../../support/server-process.js';

// A client of which every path, parameter and body is typed by openapi-typescript from the description: it compiles,
// strict, with both compilers, mistakes in it do not, and it runs against the service.

describe('the client of openapi-typescript', () => {
  const TYPES = './api.js';
  const PROGRAM = `
import createClient from 'openapi-fetch';
import type { components, paths } from '${TYPES}';

const [baseUrl = '', key = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });
const said: unknown[] = [];

const encoded = await api.GET('/v1/hexcodes/encode', { params: { query: { lat: 21.0288, lng: 105.8525 } } });
if (encoded.data !== undefined) said.push(encoded.data.hexcodes satisfies string);

const decoded = await api.POST('/v1/hexcodes/decode', { body: { hexcodes: 'hn 6ghp4 83rfr' } });
if (decoded.data?.status === 'OK') said.push(decoded.data.resolution satisfies number | null);

const nowhere = await api.GET('/v1/hexcodes/encode', { params: { query: { lat: 48.8584, lng: 2.2945 } } });
const error: Pick<components['schemas']['EncodeError'], 'status' | 'message'> | undefined = nowhere.error;
said.push(error?.status);

const batch = await api.POST('/v1/hexcodes/encode/batch', { body: { resolution: 9, points: [[21.0288, 105.8525], { lat: 0, lng: 0, id: 'b' }] } });
said.push(batch.data?.summary, batch.data?.results[1]?.status);

const one = await api.GET('/v1/hexcodes/{code}', { params: { path: { code: 'HN-6GHP4-83RFR' } } });
said.push(one.data?.province, one.data?.neighbors.length, one.response.headers.get('etag')?.length);

const unit = await api.GET('/v1/admin-units/{admin_code}', { params: { path: { admin_code: 'HN' } } });
said.push(unit.data?.boundary.geometry.type);

const known = await api.GET('/v1/meta', { headers: { 'If-None-Match': '*' } });
said.push(known.response.status);

const bulk = await api.POST('/v1/hexcodes/encode/bulk', {
  body: 'lat,lng\\n21.0288,105.8525\\n',
  bodySerializer: (body) => body,
  headers: { 'Content-Type': 'text/csv' },
  parseAs: 'text',
});
said.push(bulk.data);

// @ts-expect-error no such path
void (() => api.GET('/v1/hexcodes/nothing'));
// @ts-expect-error lng is missing
void (() => api.GET('/v1/hexcodes/encode', { params: { query: { lat: 21 } } }));
// @ts-expect-error a number, not a text
void (() => api.POST('/v1/hexcodes/encode', { body: { lat: '21', lng: 105 } }));
console.log(JSON.stringify(said));
`;

  mkdirSync('build', { recursive: true });
  // Inside the repository, whose packages the program imports.
  const folder = mkdtempSync(join('build', 'typed-client-'));
  const run = (...args: string[]): { status: number | null; said: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  const compile = (compiler: string): { status: number | null; said: string } =>
    run(join(compiler, 'bin', 'tsc'), '-p', folder);

  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ isQuiet: true });
    const document = await fetch(`http://127.0.0.1:${server.port}/openapi.json`);
    writeFileSync(join(folder, 'openapi.json'), await document.text());
    const options = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      // The declarations of openapi-fetch itself are not for compilers as old as 5.2.
      skipLibCheck: true,
      types: ['node'],
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['main.mts'] }),
    );
    writeFileSync(join(folder, 'main.mts'), PROGRAM);
  });
  afterAll(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test('types are made of the description, each operation among them', () => {
    const made = run(
      '--import=./test/support/old-typescript.mjs',
      'test/judges/node_modules/openapi-typescript/bin/cli.js',
      join(folder, 'openapi.json'),
      '-o',
      join(folder, 'api.d.ts'),
    );
    expect(made.status, made.said).toBe(0);
    const types = readFileSync(join(folder, 'api.d.ts'), 'utf8');
    for (const path of ['/v1/hexcodes/encode', '/v1/hexcodes/{code}/suggestions', '/v1/usage'])
      expect(types).toContain(`"${path}": {`);
  });

  test.each(['test/judges/node_modules/typescript-5.2', 'node_modules/typescript'])(
    'the client compiles with %s',
    (compiler) => {
      expect(compile(compiler)).toEqual({ status: 0, said: '' });
    },
  );

  test('it runs against the service', () => {
    const { said } = run(join(folder, 'main.mjs'), `http://127.0.0.1:${server.port}`, server.key);
    expect(JSON.parse(said)).toEqual([
      'HN-6GHP4-83RFR',
      13,
      'NOT_FOUND',
      { total: 2, ok: 1, failed: 1 },
      'NOT_FOUND',
      'Hà Nội',
      6,
      18,
      'MultiPolygon',
      304,
      'lat,lng,hexcodes,resolution,admin_code,status\n21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK\n',
    ]);
  });
});
