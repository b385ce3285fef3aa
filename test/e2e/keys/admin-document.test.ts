// The document of the admin port against the port: its linter, every route in it and none beside, and every answer of
// every operation by the schema of its status.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, expect, test } from 'vitest';
import { changeFirstKey } from '../../support/keys.js';
import { sharedServer } from '../../support/shared.js';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const server = sharedServer();
let base = '';
let admin = '';
let document: Document;
beforeAll(async () => {
  base = `http://127.0.0.1:${server.adminPort}`;
  admin = server.key;
  await changeFirstKey(server.dataDir, { scopes: ['admin'] });
  const isKnown = async (): Promise<boolean> => {
    const { status } = await fetch(`${base}/admin/v1/keys`, { headers: { 'X-API-Key': admin } });
    return status === 200;
  };
  while (!(await isKnown())) await new Promise((resolve) => setTimeout(resolve, 10));
  document = (await (await fetch(`${base}/openapi.json`)).json()) as Document;
});

const operations = (): [string, string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [[path, method, operation] as [string, string, Operation]];
    }),
  );

test('linters find nothing, and it names the port that was asked', async () => {
  const config = await createConfig({ extends: ['recommended'], rules: { 'operation-4xx-response': 'off' } });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  // The port of a test is on this machine.
  expect(problems.filter(({ ruleId }) => ruleId !== 'no-server-example.com')).toEqual([]);
  expect(document).toMatchObject({ servers: [{ url: base }] });
});

test('it has every path that the port names, and no other', async () => {
  const { message } = (await (await fetch(`${base}/nothing`)).json()) as { message: string };
  const named = message.split(';')[0]!.match(/\/[\w./]+/g);
  const keys = Object.keys(document.paths).filter((path) => path.startsWith('/admin/v1/keys/'));
  expect(Object.keys(document.paths).sort()).toEqual([...named!, ...keys].sort());
  expect(keys.map((path) => path.slice(14)).sort()).toEqual(
    ['', '/disable', '/enable', '/revoke', '/rotate'].map((verb) => `/{id}${verb}`),
  );
});

test('what it does not have is 404 or 405, in the form of errors, with the id of the request', async () => {
  for (const path of [...Object.keys(document.paths), '/', '/nothing', '/admin/v1', '/admin/v1/keys/x/y'])
    for (const method of METHODS) {
      if (document.paths[path]?.[method] !== undefined) continue;
      const headers = { 'X-Request-Id': `id-${method}` };
      const answer = await fetch(base + path, { method: method.toUpperCase(), headers });
      expect([path, method, answer.status]).toEqual([path, method, path in document.paths ? 405 : 404]);
      expect(answer.headers.get('x-request-id')).toBe(`id-${method}`);
      expect(await answer.json()).toMatchObject({ request_id: `id-${method}`, error: { param: null } });
    }
});

test('every answer of every operation is as its schema says', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'admin', ...document });
  const seen = new Set<string>();
  const call = async (
    path: string,
    method: string,
    options: { id?: string; key?: string; body?: unknown; query?: string } = {},
  ): Promise<Record<string, unknown>> => {
    const { id = '', key = admin, body, query = '' } = options;
    const answer = await fetch(base + path.replace('{id}', id) + query, {
      method: method.toUpperCase(),
      headers: key === '' ? {} : { 'X-API-Key': key },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const described = document.paths[path]![method]!.responses[answer.status];
    expect(described, `${method} ${path} ${answer.status}`).toBeDefined();
    expect(answer.headers.get('x-request-id')).toMatch(/./);
    const type = answer.headers.get('content-type')!.replace(/;.*/, '');
    expect(Object.keys(described!.content)).toEqual([type]);
    seen.add(`${document.paths[path]![method]!.operationId} ${answer.status}`);
    if (type !== 'application/json') return {};
    const pointer = [path, method, 'responses', String(answer.status), 'content', type, 'schema']
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/');
    const isValid = ajv.validate({ $ref: `admin#/paths/${pointer}` }, JSON.parse(text));
    expect(isValid, `${method} ${path} ${answer.status}: ${ajv.errorsText()} in ${text}`).toBe(true);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const KEYS = '/admin/v1/keys';
  const ONE = `${KEYS}/{id}`;
  for (const path of ['/livez', '/readyz', '/metrics', '/activity', '/openapi.json']) await call(path, 'get');
  const settings = { name: 'a', limits: { points_per_day: 5, points_per_second: 0.5 }, expires: '90d' };
  const { id } = (await call(KEYS, 'post', { body: settings })) as { id: string };
  await call(KEYS, 'get');
  await call(KEYS, 'get', { query: '?limit=1' });
  await call(KEYS, 'get', { query: '?limit=0' });
  await call(ONE, 'get', { id });
  await call(ONE, 'patch', { id, body: { name: 'b', expires: null } });
  await call(`${ONE}/rotate`, 'post', { id });
  for (const verb of ['disable', 'enable']) await call(`${ONE}/${verb}`, 'post', { id });
  for (const body of ['[', [], { name: '' }, { name: 'x'.repeat(20_000) }])
    await call(KEYS, 'post', { body });
  for (const [path, method, operation] of operations()) {
    if (operation.security !== undefined) continue;
    await call(path, method, { id, key: '' });
    if (path !== KEYS) await call(path, method, { id: 'nobody', body: method === 'get' ? undefined : {} });
  }
  await call(ONE, 'delete', { id });
  for (const verb of ['enable', 'rotate']) await call(`${ONE}/${verb}`, 'post', { id });
  await call(ONE, 'patch', { id, body: {} });
  for (const [, , { operationId, responses }] of operations())
    expect(
      Object.keys(responses).filter((status) => status < '300' && !seen.has(`${operationId} ${status}`)),
      operationId,
    ).toEqual(operationId === 'revokeKey' ? ['200'] : []);
});
