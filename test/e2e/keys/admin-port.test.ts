// The keys over the admin port: who may, every call, every refusal; nothing of a text in the log.
import { beforeAll, expect, test } from 'vitest';
import { type KeySettings, makeKey } from '../../support/keys.js';
import { sendRaw } from '../../support/server.js';
import { sharedServer } from '../../support/shared.js';

const server = sharedServer({ adminNames: ['metrics.example.com'] });
let admin = '';
let plain = '';
const texts: string[] = [];

async function newKey(settings: Partial<KeySettings>): Promise<string> {
  const { text } = await makeKey(server.dataDir, { scopes: ['admin'], ...settings });
  texts.push(text);
  for (let tries = 0; tries < 400 && (await call('GET', '', text)).status === 401; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return text;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

async function call(method: string, path: string, key: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys${path}`, {
    method,
    headers: key === '' ? {} : { 'X-API-Key': key },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
    headers: answer.headers,
  };
}

const serviceStatus = async (key: string) =>
  (await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': key } })).status;

beforeAll(async () => {
  admin = await newKey({});
  plain = await newKey({ scopes: ['encode', 'decode', 'bulk'] });
});

test('a key is made, shown, listed, changed, rotated, disabled, enabled and revoked; each holds when it is answered', async () => {
  const made = await call('POST', '', admin, {
    name: 'fleet',
    scopes: ['encode'],
    expires: '2099-01-31',
    cidrs: ['127.0.0.0/8'],
    limits: { points_per_day: 5, points_burst: null },
  });
  const { key, id } = made.body as { key: string; id: string };
  texts.push(key);
  expect(made).toMatchObject({ status: 201, body: { status: 'OK', name: 'fleet', state: 'active' } });
  expect(await serviceStatus(key)).toBe(200);

  const { key: _, ...without } = made.body;
  expect((await call('GET', `/${id}`, admin)).body).toEqual({ ...without, last_used: null });
  const list = (await call('GET', '', admin)).body.keys as { id: string }[];
  expect(list).toHaveLength(4);
  expect(JSON.stringify(list)).not.toMatch(/digest|hxk_/);

  const changed = await call('PATCH', `/${id}`, admin, { expires: null, scopes: ['decode', 'bulk'] });
  expect(changed).toMatchObject({
    status: 200,
    body: { name: 'fleet', expires: null, scopes: ['decode', 'bulk'], cidrs: ['127.0.0.0/8'] },
  });
  const encode = () =>
    fetch(`${server.base}/v1/hexcodes/encode?lat=21&lng=105`, { headers: { 'X-API-Key': key } });
  expect((await encode()).status).toBe(403);

  const rotated = await call('POST', `/${id}/rotate`, admin, { overlap: '1h' });
  const next = rotated.body.key as string;
  texts.push(next);
  expect(rotated).toMatchObject({ status: 200, body: { id, generation: 2 } });
  expect([await serviceStatus(key), await serviceStatus(next)]).toEqual([200, 200]);
  expect((await call('POST', `/${id}/disable`, admin)).body.state).toBe('disabled');
  expect(await serviceStatus(next)).toBe(403);
  expect((await call('POST', `/${id}/enable`, admin)).body.state).toBe('active');
  expect(await serviceStatus(next)).toBe(200);
  expect((await call('POST', `/${id}/revoke`, admin)).body.state).toBe('revoked');
  expect([await serviceStatus(key), await serviceStatus(next)]).toEqual([401, 401]);
  for (const again of ['enable', 'rotate'])
    expect(await call('POST', `/${id}/${again}`, admin)).toMatchObject({
      status: 409,
      body: { status: 'CONFLICT' },
    });
});

test('callers without permission are refused by the statuses of /v1', async () => {
  for (const key of ['', 'unknown']) {
    const answer = await call('GET', '', key);
    expect([answer.status, answer.body.status]).toEqual([401, 'REQUEST_DENIED']);
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
  }
  const answer = await call('POST', '', plain, { name: 'x' });
  expect([answer.status, answer.body.message]).toEqual([403, 'this API key has no scope admin']);
  const elsewhere = await newKey({ cidrs: ['192.0.2.0/24'] });
  expect((await call('GET', '', elsewhere)).status).toBe(403);
  const ended = await newKey({});
  const list = (await call('GET', '', ended)).body.keys as { id: string }[];
  await call('PATCH', `/${list.at(-1)?.id}`, admin, { expires: '1s' });
  for (let tries = 0; tries < 600 && (await call('GET', '', ended)).status === 200; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await call('GET', '', ended)).status).toBe(401);
});

test('a key is read from Authorization, too; two different ones are refused', async () => {
  const ask = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys`, { headers });
  expect((await ask({ Authorization: `Bearer ${admin}` })).status).toBe(200);
  expect((await ask({ Authorization: `Bearer ${admin}`, 'X-API-Key': admin })).status).toBe(200);
  expect((await ask({ Authorization: `Bearer ${admin}`, 'X-API-Key': plain })).status).toBe(400);
  expect((await ask({ Authorization: `Basic ${admin}` })).status).toBe(401);
});

test('wrong bodies name every fault; unknown keys and paths are 404', async () => {
  const wrong = await call('POST', '', admin, {
    name: ' ',
    scopes: [],
    expires: 5,
    cidrs: ['x'],
    colour: 'red',
  });
  expect(wrong.status).toBe(400);
  const details = wrong.body.details as { parameter: string }[];
  expect(details.map(({ parameter }) => parameter)).toEqual(['name', 'scopes', 'expires', 'cidrs', 'colour']);
  expect((await call('POST', '', admin)).body.details).toEqual([
    { parameter: 'name', message: 'is required' },
  ]);
  const deep = `{"name":"a","x":${'['.repeat(8000)}${']'.repeat(8000)}}`;
  for (const body of ['{"name":', '[]', '"x"', 'null', deep])
    expect((await call('POST', '', admin, body)).status, body).toBe(400);
  for (const [body, parameter] of [
    ['{"name":"a","scopes":["encode"],"scopes":["admin"]}', 'scopes'],
    ['{"name":"a","limits":{"points_per_day":5,"points_per_day":50}}', 'points_per_day'],
  ])
    expect((await call('POST', '', admin, body)).body.error).toMatchObject({ param: parameter });
  for (const length of [20_000, 5_000_000])
    expect((await call('POST', '', admin, { name: 'x'.repeat(length) })).status).toBe(413);
  for (const path of ['/nobody', '/%zz', '/nobody/', '/a/b'])
    expect((await call('GET', path, admin)).status, path).toBe(404);
  expect((await call('PATCH', '/nobody', admin, { name: 'x' })).status).toBe(404);
  // A misspelled overlap would leave the previous secret valid for a day.
  for (const body of [{ overlap: 'long' }, { overlap: '999999w' }, { Overlap: '0' }, ['0'], '0', 0])
    expect((await call('POST', '/nobody/rotate', admin, body)).status).toBe(400);
  const rest = await fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys`, { method: 'DELETE' });
  expect([rest.status, rest.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
});

/** Settings that are taken as they are given. */
const TAKEN: readonly Record<string, unknown>[] = [
  { origins: ['https://a.vn', 'http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]:8080'] },
  { origins: ['https://*.a.vn'] },
  { cidrs: ['10.0.0.0/8', '0.0.0.0/0', '192.0.2.1', '2001:db8::/32', '::/0', '::1', '::ffff:10.0.0.0/104'] },
  { limits: { points_per_second: 0.5, points_burst: 7, requests_per_second: 1e15, requests_burst: 0 } },
  { limits: { points_per_day: 0, points_per_month: 1e15 } },
];

/** A setting, and values that are none; of a list, entries. */
const REFUSED: readonly (readonly [setting: string, values: readonly unknown[]])[] = [
  ['origins', ['https://a.vn/', 'https://a.vn:443', 'https://A.vn', 'a.vn', '*', 'null', 'https://a.*.vn']],
  ['origins', ['https://*.']],
  ['expires', ['tomorrow', '2001-01-01', '2099-02-31', '999999w', '9999-12-31T23:59-10:00']],
  [
    'cidrs',
    ['', '10.0.0.0/33', '10.0.0/8', '::/129', '::ffff:10.0.0.0/8', '10.0.0.0/', 'a/8', '10.0.0.0/8/8'],
  ],
  ['limits.points_per_second', [-0.5, 1e15 + 2, '5', true]],
  ['limits.requests_per_second', [-1]],
  ['limits.points_per_day', [-1, 0.5, 1e15 + 2, '5', true]],
  ['limits.points_per_month', [0.5]],
];

test('settings are taken as they are given, or named', async () => {
  for (const settings of TAKEN)
    expect(await call('POST', '', admin, { name: 'x', ...settings })).toMatchObject({
      status: 201,
      body: settings,
    });
  const absent = { limits: { points_per_day: null } };
  expect((await call('POST', '', admin, { name: 'x', ...absent })).body.limits).toEqual({});
  for (const [setting, values] of REFUSED)
    for (const value of values) {
      const [member = '', limit] = setting.split('.');
      const inMember = limit !== undefined ? { [limit]: value } : member === 'expires' ? value : [value];
      const given = { [member]: inMember };
      const { status, body } = await call('POST', '', admin, { name: 'x', ...given });
      expect([given, status, body.details]).toMatchObject([given, 400, [{ parameter: setting }]]);
    }
});

test('a name has no control characters and no halves of pairs', async () => {
  for (const name of ['a\0b', '\u001b[2J', 'a\nb', '\x7f', '\u0085', '\ud800'])
    expect(await call('POST', '', admin, { name })).toMatchObject({
      status: 400,
      body: { details: [{ parameter: 'name', message: 'must have no control characters' }] },
    });
  for (const name of ['Xe tải 🚚', 'a\u200db', '\u00a0x'])
    expect(await call('POST', '', admin, { name })).toMatchObject({ status: 201, body: { name } });
});

test('the log says who changed what, and holds no text', () => {
  expect(server.log()).toMatch(/"key_id":"\w+","op":"rotate","changed_key_id":"\w+".*"a key was changed"/);
  for (const text of texts) expect(server.log()).not.toContain(text);
});

test('a call with an Idempotency-Key makes one key, even if it is sent several times at once', async () => {
  const create = async (once: string, name: string): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys`, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${admin}`, 'Idempotency-Key': once },
      body: JSON.stringify({ name }),
    });
    const body = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, body, headers: answer.headers };
  };
  const [first, same, other] = await Promise.all([
    create('a', 'one'),
    create('a', 'one'),
    create('b', 'one'),
  ]);
  const later = await create('a', 'one');
  const answers = [first, same, other, later];
  texts.push(...answers.map(({ body }) => String(body.key)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect([same.body, later.body]).toEqual([first.body, first.body]);
  expect(other.body.id).not.toBe(first.body.id);
  expect(await create('a', 'two')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  // A call that failed is tried again.
  const bad = await call('POST', '', admin, { name: '' });
  expect([(await create('c', '')).status, (await create('c', 'three')).status]).toEqual([bad.status, 201]);
});

test('a rotation with an Idempotency-Key gives one text; an empty one, and a body with a coding, are refused', async () => {
  const { id } = (await call('POST', '', admin, { name: 'rotated' })).body as { id: string };
  const send = async (path: string, headers: Record<string, string>, body = ''): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys${path}`, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${admin}`, ...headers },
      body,
    });
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown>,
      headers: answer.headers,
    };
  };
  const [once, again] = [
    await send(`/${id}/rotate`, { 'Idempotency-Key': 'turn' }),
    await send(`/${id}/rotate`, { 'Idempotency-Key': 'turn' }),
  ];
  expect([once.status, once.body.generation]).toEqual([200, 2]);
  expect(again.body).toEqual(once.body);
  texts.push(String(once.body.key));
  const made = await send('', { 'Idempotency-Key': 'turn' }, JSON.stringify({ name: 'x' }));
  expect(made.status).toBe(409);
  expect((await send('', { 'Idempotency-Key': '' }, JSON.stringify({ name: 'x' }))).status).toBe(400);
  const packed = await send('', { 'Content-Encoding': 'gzip' }, JSON.stringify({ name: 'x' }));
  expect([packed.status, packed.body]).toMatchObject([415, { error: { code: 'media_type_unsupported' } }]);
});

test('the list by pages is the list, and DELETE revokes for good', async () => {
  const all = (await call('GET', '', admin)).body.keys as { id: string }[];
  const found: { id: string }[] = [];
  let after = '';
  for (;;) {
    const { status, body } = await call('GET', `?limit=2${after}`, admin);
    expect(status).toBe(200);
    found.push(...(body.keys as { id: string }[]));
    if (body.next === undefined) break;
    after = `&after=${body.next}`;
  }
  expect(found).toEqual(all);
  for (const query of ['?limit=0', '?limit=1001', '?limit=x', '?limit=1&limit=2', '?after=none'])
    expect(await call('GET', query, admin), query).toMatchObject({
      status: 400,
      body: {
        error: { code: 'parameter_invalid', param: query.slice(1, 6) === 'limit' ? 'limit' : 'after' },
      },
    });
  const { id } = (await call('POST', '', admin, { name: 'gone' })).body as { id: string };
  expect(await call('DELETE', `/${id}`, admin)).toMatchObject({ status: 200, body: { state: 'revoked' } });
  expect((await call('POST', `/${id}/enable`, admin)).status).toBe(409);
  // Who got no answer sends it again.
  for (const [method, path] of [
    ['DELETE', `/${id}`],
    ['POST', `/${id}/revoke`],
  ] as const)
    expect(await call(method, path, admin)).toMatchObject({ status: 200, body: { id, state: 'revoked' } });
});

test('errors of the admin port are JSON, and say where /v1 is', async () => {
  const base = `http://127.0.0.1:${server.adminPort}`;
  const nothing = await fetch(`${base}/v1/meta`);
  expect([nothing.status, nothing.headers.get('content-type')]).toEqual([404, 'application/json']);
  expect(((await nothing.json()) as { message: string }).message).toContain(
    '/v1 is on the port of the service',
  );
  const method = await fetch(`${base}/metrics`, { method: 'POST' });
  expect(method.status).toBe(405);
  expect(await method.json()).toMatchObject({
    status: 'INVALID_REQUEST',
    error: { code: 'method_not_allowed' },
  });
});

test('HEAD is answered as GET, and nothing is kept', async () => {
  const path = `http://127.0.0.1:${server.adminPort}/livez`;
  const [get, head] = [await fetch(path), await fetch(path, { method: 'HEAD' })];
  for (const answer of [get, head])
    expect([
      answer.status,
      answer.headers.get('cache-control'),
      answer.headers.get('content-length'),
    ]).toEqual([200, 'no-store', '6']);
  expect([await get.text(), await head.text()]).toEqual(['alive\n', '']);
});

test.each([
  ...['127.0.0.1:9090', '10.1.2.3', '[::1]:9090', 'localhost:9090', 'node-1:9090'],
  ...['hexcodes.default.svc:9090', 'hexcodes.default.svc.cluster.local', 'Metrics.Example.com.:9090'],
  undefined,
])('a request for the host %s is answered', async (host) => {
  const head = host === undefined ? 'GET /livez HTTP/1.0\r\n' : `GET /livez HTTP/1.1\r\nHost: ${host}\r\n`;
  const answer = await sendRaw(server.adminPort, `${head}Connection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ...['evil.example:9090', 'metrics.example.com.evil.vn', '127.0.0.1.evil.vn', '[::1].evil.vn', ''],
])('a request for the host %j is 421', async (host) => {
  const head = `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  expect(await sendRaw(server.adminPort, head)).toMatch(/^HTTP\/1\.1 421 /);
});
