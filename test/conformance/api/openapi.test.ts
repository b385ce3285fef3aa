// The description at /openapi.json against the service: every request that is made from it is answered as it says, in
// status, headers and body, and what it allows is accepted, what it forbids refused. And the document of the stream.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  type DescribedApi,
  DescribedServer,
  outsideOf,
  queryOf,
  type Values,
  valuesOf,
} from '../../support/described-api.js';
import { startServer, type TestServer } from '../../support/server.js';

const SEED = 21;
const RUNS = 60;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
let described: DescribedServer;
let api: DescribedApi;
beforeAll(async () => {
  described = await DescribedServer.start();
  api = described.api;
});
afterAll(() => described.stop());

const TILES = ['12/3252/1803', '12/3252/1803.geojson', '5/0/0', '23/0/0', '12/x/y'];
const settings = { seed: SEED, numRuns: RUNS };

test('every array says what it holds, as linters ask', () => {
  const bare: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'array' && !('items' in node)) bare.push(path);
    for (const [name, value] of Object.entries(node)) walk(value, `${path}/${name}`);
  };
  walk(api.document, '');
  expect(bare).toEqual([]);
});

describe.each(['/v1/hexcodes/encode', '/v1/hexcodes/decode'])('%s', (path) => {
  test('GET with what is allowed is accepted', async () => {
    const operation = api.operation(path, 'get');
    await fc.assert(
      fc.asyncProperty(described.queries(operation), async (query) => {
        const answer = await described.send(path, 'get', query);
        expect([200, 404], JSON.stringify(query)).toContain(answer.status);
        expect(await api.faultOf(operation, answer), JSON.stringify(query)).toBeUndefined();
      }),
      settings,
    );
  });

  test('a JSON body with what is allowed is accepted', async () => {
    const operation = api.operation(path, 'post');
    const { schema } = operation.requestBody!.content[JSON_TYPE]!;
    await fc.assert(
      fc.asyncProperty(valuesOf(schema, api.resolve), async (body) => {
        const answer = await described.send(
          path,
          'post',
          {},
          { type: JSON_TYPE, text: JSON.stringify(body) },
        );
        expect([200, 404], JSON.stringify(body)).toContain(answer.status);
        expect(await api.faultOf(operation, answer), JSON.stringify(body)).toBeUndefined();
      }),
      settings,
    );
  });

  test('one step outside is refused, by query, form and JSON, and names the member', async () => {
    const operation = api.operation(path, 'post');
    const { schema } = operation.requestBody!.content[JSON_TYPE]!;
    const whole = api.resolve(schema.$ref!);
    const broken = fc.constantFrom(...Object.keys(whole.properties!)).chain((name) =>
      fc.record({
        name: fc.constant(name),
        body: valuesOf(schema, api.resolve),
        outside: outsideOf(whole.properties![name]!),
        way: fc.constantFrom('json', 'query', 'form'),
      }),
    );
    await fc.assert(
      fc.asyncProperty(broken, async ({ name, body, outside, way }) => {
        // In a text every value is a text, and a text is not a fault of hexcodes there.
        const isText = way !== 'json';
        fc.pre(
          !isText ||
            typeof outside === 'number' ||
            (typeof outside === 'string' && name !== 'hexcodes') ||
            outside === '',
        );
        fc.pre(!(isText && name === 'hexcodes' && outside !== ''));
        const values = { ...(body as Values), [name]: outside };
        const answer = await (way === 'json'
          ? described.send(path, 'post', {}, { type: JSON_TYPE, text: JSON.stringify(values) })
          : way === 'form'
            ? described.send(path, 'post', {}, { type: FORM_TYPE, text: queryOf(values) })
            : described.send(path, 'post', values));
        const shown = `${way} ${JSON.stringify(values)}`;
        expect(answer.status, shown).toBe(400);
        const copy = answer.clone();
        expect(await api.faultOf(operation, answer), shown).toBeUndefined();
        const { details } = (await copy.json()) as { details: { parameter: string }[] };
        expect(
          details.map(({ parameter }) => parameter),
          shown,
        ).toContain(name);
      }),
      { ...settings, numRuns: 3 * RUNS },
    );
  });

  test('a required member that is missing is refused', async () => {
    const operation = api.operation(path, 'get');
    for (const { name } of operation.parameters.filter((each) => each.required)) {
      const others = operation.parameters.filter((each) => each.required && each.name !== name);
      const query = Object.fromEntries(others.map((each) => [each.name, each.example]));
      const answer = await described.send(path, 'get', query);
      expect(answer.status).toBe(400);
      expect(await api.faultOf(operation, answer)).toBeUndefined();
    }
  });
});

describe.each(['/v1/hexcodes/encode/batch', '/v1/hexcodes/decode/batch'])('%s', (path) => {
  test('each allowed item is accepted', async () => {
    const operation = api.operation(path, 'post');
    const { schema } = operation.requestBody!.content[JSON_TYPE]!;
    await fc.assert(
      fc.asyncProperty(valuesOf(schema, api.resolve), async (body) => {
        const text = JSON.stringify(body);
        const answer = await described.send(path, 'post', {}, { type: JSON_TYPE, text });
        expect(answer.status, text).toBe(200);
        const copy = answer.clone();
        expect(await api.faultOf(operation, answer), text).toBeUndefined();
        const { results } = (await copy.json()) as {
          results: { status: string; details?: { parameter: string }[] }[];
        };
        const refused = results.filter(({ status }) => status === 'INVALID_REQUEST');
        // An empty text is allowed as an item of decode, and answered as a single one is.
        expect(
          refused.filter(({ details }) => details?.[0]?.parameter !== 'hexcodes'),
          text,
        ).toEqual([]);
      }),
      settings,
    );
  });

  test('any JSON is answered as described', async () => {
    const operation = api.operation(path, 'post');
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { points: fc.array(fc.jsonValue()), hexcodes: fc.array(fc.jsonValue()), resolution: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const text = JSON.stringify(body);
        const answer = await described.send(path, 'post', {}, { type: JSON_TYPE, text });
        expect([200, 400], text).toContain(answer.status);
        expect(await api.faultOf(operation, answer), text).toBeUndefined();
      }),
      settings,
    );
  });
});

test.each([
  ['/v1/hexcodes/{code}', { code: ['HN-6GHP4-83RFR', 'hn-66', 'nope', '%C4%90N-', 'a'.repeat(100), '%'] }],
  ['/v1/hexcodes/{code}/suggestions', { code: ['HN-6GHP4-B3RFR', 'HN-6GHP4-83RFR', 'x', '%zz'] }],
  ['/v1/admin-units/{admin_code}', { admin_code: ['HN', 'hcm', 'XX'] }],
  ['/v1/grid/{z}/{x}/{y}', { 'z}/{x}/{y': TILES }],
  ['/v1/grid/{z}/{x}/{y}.mvt', { 'z}/{x}/{y': ['12/3252/1803', '5/0/0', '23/0/0', '12/x/y'] }],
  ['/v1/admin-units', {}],
  ['/v1/admin-units/former', {}],
  ['/v1/meta', {}],
  ['/v1/usage', {}],
] as [string, Record<string, string[]>][])('GET %s, right and wrong', async (path, inPath) => {
  const operation = api.operation(path, 'get');
  const [name, texts] = Object.entries(inPath)[0] ?? ['', ['']];
  for (const text of texts) {
    for (const query of [{}, { near: '21.03,105.85' }, { near: 'x' }]) {
      const answer = await described.send(path.replace(`{${name}}`, text), 'get', query as Values);
      expect(await api.faultOf(operation, answer), `${text} ${JSON.stringify(query)}`).toBeUndefined();
    }
  }
});

test('look-ups have an entity tag, and who sends it is answered 304, as described', async () => {
  const kept: string[] = [];
  for (const [path, { get: operation }] of Object.entries(api.document.paths)) {
    if (operation?.responses['304'] === undefined) continue;
    kept.push(path);
    const url = `http://127.0.0.1:${described.server.port}${path.replace('{code}', 'HN-66').replace('{admin_code}', 'HN').replace('{z}/{x}/{y}', '5/25/14')}${path === '/v1/places' ? '?q=vinh' : ''}`;
    const tag = (await fetch(url, { headers: { 'X-API-Key': described.server.key } })).headers.get('etag')!;
    const again = await fetch(url, { headers: { 'X-API-Key': described.server.key, 'If-None-Match': tag } });
    expect(again.status, path).toBe(304);
    expect(await api.faultOf(operation, again), path).toBeUndefined();
  }
  expect(kept).toHaveLength(9);
});

test('bodies of any bytes to /bulk are answered as described', async () => {
  for (const path of ['/v1/hexcodes/encode/bulk', '/v1/hexcodes/decode/bulk']) {
    const operation = api.operation(path, 'post');
    for (const type of Object.keys(operation.requestBody!.content)) {
      for (const text of ['lat,lng,hexcodes\n21.0288,105.8525,HN-66\n', '{"lat":1,"lng":2}\n', 'x', '\0']) {
        const answer = await described.send(path, 'post', {}, { type, text });
        expect(
          await api.faultOf(operation, answer),
          `${path} ${type} ${JSON.stringify(text)}`,
        ).toBeUndefined();
      }
    }
    const answer = await described.send(
      path,
      'post',
      { delimiter: 'x', prefix: 'ä' },
      { type: 'text/csv', text: 'lat,lng\n' },
    );
    expect(answer.status).toBe(400);
    expect(await api.faultOf(operation, answer)).toBeUndefined();
  }
});

test('faults of every operation are answered as described: keys, Accept, length of the target, media type', async () => {
  const base = `http://127.0.0.1:${described.server.port}`;
  for (const [path, methods] of Object.entries(api.document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const url = base + path.replace(/\{.*?\}/g, 'HN');
      const verb = { method: method.toUpperCase() };
      const key = { 'X-API-Key': described.server.key };
      const isBulk = operation.operationId.endsWith('Bulk');
      const answers: [number, globalThis.Response][] = [
        [401, await fetch(url, verb)],
        [401, await fetch(`${url}?apikey=no`, verb)],
        [400, await fetch(`${url}?apikey=no`, { ...verb, headers: key })],
        [414, await fetch(`${url}?${'x'.repeat(8200)}`, { ...verb, headers: key })],
        [
          406,
          await fetch(url, {
            ...verb,
            headers: { ...key, Accept: 'image/png', ...(isBulk ? { 'Content-Type': 'text/csv' } : {}) },
          }),
        ],
      ];
      if (operation.requestBody !== undefined) {
        answers.push([
          415,
          await fetch(url, { ...verb, headers: { ...key, 'Content-Type': 'image/png' }, body: 'x' }),
        ]);
      }
      for (const [status, answer] of answers) {
        expect(answer.status, `${method} ${path}`).toBe(status);
        expect(await api.faultOf(operation, answer), `${method} ${path} ${status}`).toBeUndefined();
      }
    }
  }
});

test('the description itself: no key, an entity tag, 304 for who has it', async () => {
  const url = `http://127.0.0.1:${described.server.port}/openapi.json`;
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  const tag = answer.headers.get('etag')!;
  expect((await fetch(url, { headers: { 'If-None-Match': `"other", W/${tag}` } })).status).toBe(304);
  expect((await fetch(url, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
});

test('an independent linter finds nothing in it', async () => {
  const config = await createConfig({ extends: ['recommended'], telemetry: 'off' });
  const source = JSON.stringify(api.document);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
    [],
  );
});

test('every path of the service is described, and no other', async () => {
  const text = (await import('node:fs')).readFileSync('docs/http.md', 'utf8');
  const table = text.slice(text.indexOf('## Endpoints'), text.indexOf('- `HEAD` is'));
  const documented = [...table.matchAll(/`(?:[A-Z, `]*)?(\/v1\/[^`]*)`/g)].map((match) => match[1]!);
  expect(new Set(Object.keys(api.document.paths))).toEqual(
    new Set(documented.filter((path) => !path.endsWith('/stream'))),
  );
});

/** Every schema of the document, with the path to it. */
function* schemasIn(value: unknown, path: string): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [name, inner] of Object.entries(value))
    if (!['example', 'examples'].includes(name)) yield* schemasIn(inner, `${path}/${name}`);
}

test('generators find a format of every number, enums in place of constants, and no answer that is one of several', () => {
  const faults: string[] = [];
  for (const [path, schema] of schemasIn(api.document, '')) {
    const types = [schema.type].flat();
    const formats: Record<string, string[]> = { number: ['double'], integer: ['int32', 'int64'] };
    for (const type of types)
      if (typeof type === 'string' && type in formats && !formats[type]!.includes(String(schema.format)))
        faults.push(`${path}: a ${type} without a format`);
    if (schema.format === 'int32' && Math.abs(Number(schema.maximum ?? 0)) >= 2 ** 31)
      faults.push(`${path}: more than int32 holds`);
    if ('const' in schema) faults.push(`${path}: a constant`);
    if (types.length === 1 && types[0] === 'null' && !path.includes('/anyOf/'))
      faults.push(`${path}: null alone`);
    if ('contentMediaType' in schema) faults.push(`${path}: bytes are format binary`);
    if ('oneOf' in schema || 'allOf' in schema) faults.push(`${path}: oneOf or allOf`);
    const choices = (schema.anyOf ?? []) as { enum?: unknown; const?: unknown; type?: string }[];
    if (choices.length > 1 && choices.every((each) => 'const' in each || 'enum' in each))
      faults.push(`${path}: a union of constants`);
  }
  for (const methods of Object.values(api.document.paths))
    for (const { operationId, parameters, responses, requestBody } of Object.values(methods)) {
      const { content } = responses[200]!;
      for (const [type, { schema }] of Object.entries(content!)) {
        const isRef = '$ref' in schema || ('type' in schema && schema.type === 'string');
        if (!isRef) faults.push(`${operationId} ${type}: an answer without a name`);
      }
      const types = Object.keys(requestBody?.content ?? {});
      const defaults = parameters.filter(({ in: where, schema }) => where === 'query' && 'default' in schema);
      if (types.includes('application/json') && defaults.length > 0 && operationId !== 'traccar')
        faults.push(`${operationId}: a default in the query, which contradicts the body`);
      if (types.includes('multipart/form-data')) faults.push(`${operationId}: a form beside other bodies`);
    }
  expect(faults).toEqual([]);
});

test('the document has an absolute address and the version of the service', () => {
  const { servers, info } = api.document as unknown as {
    servers: { url: string }[];
    info: { version: string };
  };
  expect(servers.map(({ url }) => new URL(url).protocol)).toEqual(['http:']);
  expect(info.version).toMatch(/^\d+\.\d+\.\d+/);
});

test('a name of blanks is refused by the schema where it is by the service', async () => {
  const { parameters } = api.document.paths['/v1/places']!.get!;
  const { pattern = '' } = parameters.find(({ name }) => name === 'q')!.schema as { pattern?: string };
  for (const text of ['\r', ' ', ' \t ', '\u3000', '-', ' a ', 'Huế']) {
    const { status } = await fetch(`${described.server.base}/v1/places?q=${encodeURIComponent(text)}`, {
      headers: { 'X-API-Key': described.server.key },
    });
    expect([text, status]).toEqual([text, new RegExp(pattern, 'u').test(text) ? 200 : 400]);
  }
});

// The description of the stream at /asyncapi.json: valid by the schema of AsyncAPI, and messages of the JSON
// subprotocol are as it says.

describe('the document of the stream', () => {
  interface Described {
    components: { messages: Record<string, { payload: object }> };
  }

  let server: TestServer;
  let described: Described;
  beforeAll(async () => {
    server = await startServer({ logLevel: 'silent' });
    described = (await (await fetch(`http://127.0.0.1:${server.port}/asyncapi.json`)).json()) as Described;
  });
  afterAll(() => server.stop());

  test('is valid by the schema of AsyncAPI 3', () => {
    const path = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.validate(JSON.parse(readFileSync(path, 'utf8')), described);
    expect(ajv.errors).toBeNull();
    const references = [...JSON.stringify(described).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      (match) => match[1]!,
    );
    const missing = references.filter(
      (reference) =>
        reference
          .split('/')
          .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], described) ===
        undefined,
    );
    expect(missing).toEqual([]);
  });

  test('messages both ways are as described', async () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(described, 'api');
    const faultOf = (name: string, message: unknown): string | undefined => {
      const text = JSON.stringify(described.components.messages[name]!.payload);
      const isRight = ajv.validate(JSON.parse(text.replaceAll('"#/', '"api#/')) as object, message);
      return isRight ? undefined : ajv.errorsText();
    };
    const requests: [string, object][] = [
      [
        'encodeFrame',
        { seq: 1, op: 'encode', resolution: 9, points: [[21.0288, 105.8525], { lat: 0, lng: 0, id: 'b' }] },
      ],
      ['decodeFrame', { seq: 2, op: 'decode', hexcodes: ['HN-6GHP4-83RFR', { hexcodes: 'nope', id: 7 }] }],
    ];
    for (const [name, request] of requests) expect(faultOf(name, request), name).toBeUndefined();
    const wrong = [{ op: 'x' }, [], { seq: 3, op: 'encode' }];
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
      headers: { 'X-API-Key': server.key },
    });
    const messages: unknown[] = [];
    const sent = [...requests.map(([, request]) => request), ...wrong];
    await new Promise<void>((done, failed) => {
      socket.on('error', failed);
      socket.on('message', (data) => {
        messages.push(JSON.parse(String(data)));
        if (messages.length === 1) for (const each of sent) socket.send(JSON.stringify(each));
        if (messages.length === 1 + sent.length) done();
      });
    });
    socket.close();
    expect(faultOf('ready', messages[0])).toBeUndefined();
    for (const answer of messages.slice(1))
      expect(faultOf('answerFrame', answer), JSON.stringify(answer)).toBeUndefined();
  });
});
