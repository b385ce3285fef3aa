// Habits of callers: other names of the coordinates, a parameter that does not exist, numbers as some
// languages print them, gzip, headers of tracing scripts.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}/v1/hexcodes/${path}`, {
    ...init,
    headers: { 'X-API-Key': server.key, ...init.headers },
  });
const post = (path: string, body: string, type = 'application/json'): Promise<Response> =>
  call(path, { method: 'POST', body, headers: { 'Content-Type': type } });

/** In the boundaries of the tests. */
const CODE = 'QNH-6GHP4-83RF9';

test.each([
  'latitude=21.0288&longitude=105.8525',
  'latitude=21.0288&lon=105.8525',
  'lat=21.0288&lon=105.8525',
])('%s', async (query) => {
  const answer = await call(`encode?${query}`);
  expect(await answer.text()).toBe(
    `{"hexcodes":"${CODE}","lat":21.0288,"lng":105.8525,"resolution":13,"admin_code":"QNH","status":"OK"}`,
  );
  expect(answer.headers.get('Hexcodes-Hint')).toBeNull();
});

test('lat and lng count where both are given, and a fault names the parameter as it was written', async () => {
  const { hexcodes } = (await (await call('encode?lat=21.0288&lng=105.8525&lon=1&latitude=x')).json()) as {
    hexcodes: string;
  };
  expect(hexcodes).toBe(CODE);
  const { details } = (await (await call('encode?latitude=x&lon=105')).json()) as { details: object[] };
  expect(details).toEqual([{ parameter: 'latitude', message: 'must be a decimal number from -90 to 90' }]);
});

test('items of a batch and rows of NDJSON have these names, too', async () => {
  const item = '{"latitude":21.0288,"longitude":105.8525}';
  const { results } = (await (await post('encode/batch', `{"points":[${item}]}`)).json()) as {
    results: { hexcodes: string }[];
  };
  expect(results[0]?.hexcodes).toBe(CODE);
  expect(await (await post('encode/bulk', `${item}\n`, 'application/x-ndjson')).text()).toContain(CODE);
});

test.each([
  ['encode?lat=21&lng=105.8&res=9', 'res is not a parameter; perhaps resolution'],
  [
    'encode?lat=21&lng=105.8&utm_source=x&zoom=3',
    'utm_source is not a parameter, zoom is not a parameter; perhaps resolution',
  ],
  ['encode?res=9', 'res is not a parameter; perhaps resolution'],
  [`decode?hexcodes=${CODE}&code=x`, 'code is not a parameter'],
  ['encode?lat=21.0288&lng=105.8525&x=1', 'x is not a parameter'],
  ['encode?lat=21.0288&lng=105.8525&Resolution=9', 'Resolution is not a parameter; perhaps resolution'],
  [
    'encode?LAT=21.0288&LNG=105.8525',
    'LAT is not a parameter; perhaps lat, LNG is not a parameter; perhaps lng',
  ],
  [
    'encode?lat[]=21.0288&lng%5B%5D=105.8525',
    'lat[] is not a parameter; perhaps lat, lng[] is not a parameter; perhaps lng',
  ],
  [`decode?hexcodes=${CODE}&apikey=`, null],
  [`decode?hexcodes=${CODE}&hx_0123456789abcdefghijklmnopqrstuvwxyz=1`, null],
  [`decode?hexcodes=${CODE}&a%0d%0aX:y=1`, null],
])('%s has the hint %j', async (path, hint) => {
  const answer = await call(path);
  expect(answer.headers.get('Hexcodes-Hint')).toBe(hint);
  await answer.arrayBuffer();
});

test('9.0 is the resolution 9 in JSON, alone, of a batch and of an item; 9.5 and a query with 9.0 are refused', async () => {
  const point = '"lat":21.0288,"lng":105.8525';
  const codeOf = async (answer: Promise<Response>): Promise<unknown> =>
    (await (await answer).json()) as unknown;
  expect(await codeOf(post('encode', `{${point},"resolution":9.0}`))).toMatchObject({ resolution: 9 });
  expect(await codeOf(post('encode', `{${point},"resolution":0.9e1}`))).toMatchObject({ resolution: 9 });
  expect(
    await codeOf(
      post('encode/batch', `{"resolution":9.0,"points":[{${point}},{${point},"resolution":7.0}]}`),
    ),
  ).toMatchObject({
    results: [{ resolution: 9 }, { resolution: 7 }],
  });
  for (const wrong of ['9.5', '-1.0', '16.0', '1e400', '"9.0"'])
    expect((await post('encode', `{${point},"resolution":${wrong}}`)).status, wrong).toBe(400);
  expect((await call('encode?lat=21&lng=105.8&resolution=9.0')).status).toBe(400);
});

test('a JSON string as a coordinate, and a coding that nobody unpacks, are refused by name', async () => {
  const text = (await (await post('encode', '{"lat":"21.0288","lng":105.8525}')).json()) as {
    message: string;
  };
  expect(text.message).toBe('lat must be a JSON number');
  const packed = await call('encode', {
    method: 'POST',
    body: Buffer.from([31, 139, 8, 0]),
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'zstd' },
  });
  expect(packed.status).toBe(415);
  expect(((await packed.json()) as { message: string }).message).toBe(
    'the Content-Encoding of a body must be gzip, or none',
  );
});

test.each([
  ['encode?LAT=21.0288&lng=105.8525', 'lat is required; LAT is not a parameter; perhaps lat'],
  [
    'encode?lat=21,0288&lng=105.8525',
    'lat must be a decimal number from -90 to 90, with a decimal point: 21.0288',
  ],
  [
    'encode?lat=%2B21.0288&lng=105.8525',
    'lat must be a decimal number from -90 to 90, without a plus sign: 21.0288',
  ],
  [
    'encode?lat=+21.0288&lng=105.8525',
    'lat must be a decimal number from -90 to 90, without a plus sign: 21.0288',
  ],
  ['encode?lat[0]=21.0288&lng=105.8525', 'lat is required; lat[0] is not a parameter; perhaps lat'],
  ['encode?lat=&lng=105.8525', 'lat must be a decimal number from -90 to 90, and is given without a value'],
  [
    'encode?lat=21.0288%20&lng=105.8525',
    'lat must be a decimal number from -90 to 90, without blanks: 21.0288',
  ],
  [
    'encode?lat=21.0288,105.8525',
    'lat must be a decimal number from -90 to 90: one number, the other is a parameter; lng is required',
  ],
  [
    'encode?lat=%E2%88%9221.0288&lng=105.8525',
    'lat must be a decimal number from -90 to 90, with a hyphen as its sign: -21.0288',
  ],
  [
    'encode?lat=21.0288N&lng=105.8525',
    'lat must be a decimal number from -90 to 90, without signs or letters behind it',
  ],
  ['../reverse?LAT=21&lon=105', 'lat is required; LAT is not a parameter; perhaps lat'],
  ['../places?Q=ha', 'q is required: a name, or its beginning; Q is not a parameter; perhaps q'],
  [`${CODE}/`, 'there is nothing at this path; perhaps /v1/hexcodes/{code}'],
])('%s is answered with the remedy', async (path, message) => {
  const answer = await call(path);
  expect([400, 404]).toContain(answer.status);
  expect(((await answer.json()) as { message: string }).message).toBe(message);
});

test('every look-up names the parameters that it does not have, and reverse reads the names of encode', async () => {
  for (const path of [`${CODE}?x`, `${CODE}/suggestions?limit=3`, '../usage?days=1', '../places?q=ha&x=1'])
    expect((await call(path)).headers.get('hexcodes-hint'), path).toMatch(/^\w+ is not a parameter$/);
  const asked = [
    'lat=21.0288&lon=105.8525',
    'latitude=21.0288&lng=105.8525',
    'lat=21.0288&longitude=105.8525',
  ];
  const answers = await Promise.all(
    asked.map(async (query) => {
      const answer = await call(`../reverse?${query}`);
      return [answer.headers.get('hexcodes-hint'), await answer.text()];
    }),
  );
  expect(answers[0]?.[1]).toContain(CODE);
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  expect(await (await call('../reverse?latitude=x&lng=1')).text()).toContain('"param":"latitude"');
});

test('JSON without a Content-Type, as curl -d sends it, is told which one to send', async () => {
  const body = '{"lat":21.0288,"lng":105.8525}';
  const answer = await post('encode', body, 'application/x-www-form-urlencoded');
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { message: string }).message).toBe(
    'the body is JSON, and its Content-Type says that it is a form: send it with Content-Type: application/json',
  );
  expect((await post('encode', 'lat=21.0288&lng=105.8525', 'application/x-www-form-urlencoded')).status).toBe(
    200,
  );
});

test('a method in lower case is told so', async () => {
  const answer = await sentRaw(
    server.port,
    `get /v1/hexcodes/encode?lat=21.0288&lng=105.8525&apikey=${server.key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(answer).toContain('methods are in upper case: GET');
});

/** The answer to bytes as they are. */
function sentRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('}')) socket.destroy();
    });
    socket.on('close', () => resolve(text)).on('error', reject);
  });
}

test('columns of hemispheres are refused, characters of no width around numbers are read', async () => {
  const sides = await post('encode/bulk', 'lat,ns,lng,ew\n21.0288,S,105.8525,W\n', 'text/csv');
  expect(sides.status).toBe(400);
  expect(((await sides.json()) as { message: string }).message).toContain('"ns" and "ew" say the hemisphere');
  expect((await post('encode/bulk', 'lat,lng,ns\n21.0288,105.8525,5\n', 'text/csv')).status).toBe(200);
  const marked =
    'lat,lng\n\u200e21.0288\u200e,\u200b105.8525\n\ufeff21.0288,105.8525\u202c\n21.0288,105.8525\u2060\n';
  const answer = await post('encode/bulk', marked, 'text/csv');
  expect((await answer.text()).match(/,OK$/gm)).toHaveLength(3);
});

test('a preflight allows the headers of tracing scripts and of caches', async () => {
  const { headers } = await call('encode', { method: 'OPTIONS' });
  const allowed = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(', ') ?? [];
  for (const name of [
    '*',
    'authorization',
    'baggage',
    'sentry-trace',
    'traceparent',
    'if-none-match',
    'x-api-key',
  ])
    expect(allowed).toContain(name);
});

test('a body with an error ends with a line end, a success with none', async () => {
  expect(await (await call('encode?lat=x')).text()).toMatch(/\}\n$/);
  expect(await (await call('nothing')).text()).toMatch(/\}\n$/);
  expect(await (await call(`decode?hexcodes=${CODE}`)).text()).toMatch(/\}$/);
});

test.each(['text/json', 'application/vnd.fleet+json', 'Application/Problem+JSON; charset=utf-8', ''])(
  'a body of JSON under the name “%s” is read by every endpoint that takes JSON',
  async (type) => {
    const send = (path: string, body: string): Promise<Response> =>
      call(path, {
        method: 'POST',
        // fetch gives texts a type of its own.
        body: new Blob([body]),
        headers: type === '' ? {} : { 'Content-Type': type },
      });
    const point = '{"lat":21.0288,"lng":105.8525}';
    expect(await (await send('encode', point)).text()).toContain(CODE);
    expect(await (await send('decode', `{"hexcodes":"${CODE}"}`)).text()).toContain('"status":"OK"');
    expect(await (await send('encode/batch', `{"points":[${point}]}`)).text()).toContain(CODE);
    expect(
      await (await send('../traccar', `{"position":{"latitude":21.0288,"longitude":105.8525}}`)).status,
    ).not.toBe(415);
  },
);

test.each(['text/plain', 'application/xml', 'application/json; charset=utf-16', 'application/jsonx'])(
  'a body of another type is refused with the types that are read: %s',
  async (type) => {
    const answer = await post('encode', '{"lat":21.0288,"lng":105.8525}', type);
    expect(answer.status).toBe(415);
    expect(await answer.text()).toContain('a body must be application/json or');
  },
);

test.each([
  ['*', 200],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 200],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 200],
  ['garbage', 200],
  [',;', 200],
  ['application/*', 200],
  ['application/json;q=0.1', 200],
  ['text/csv', 406],
  ['application/json;q=0', 406],
  ['*;q=0', 406],
])('Accept: %s is answered %d by every endpoint of JSON', async (accept, status) => {
  for (const path of ['encode?lat=21.0288&lng=105.8525', `decode?hexcodes=${CODE}`, CODE, '../meta'])
    expect([path, (await call(path, { headers: { Accept: accept } })).status]).toEqual([path, status]);
});

test('a parameter without a value is told from one that is absent', async () => {
  for (const [query, said] of [
    ['decode?hexcodes=', 'hexcodes is required, and given without a value'],
    ['decode', 'hexcodes is required'],
  ])
    expect(await (await call(query!)).json()).toMatchObject({ status: 'INVALID_REQUEST', message: said });
});
