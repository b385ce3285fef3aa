// Keys: changed by the command in a process of its own while the server runs, their states, and the uses that they
// allow: for what, from where and until when.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { RawBulkPeer, requestHead } from '../../support/bulk-bodies.js';
import { becomes, statusOf } from '../../support/http-calls.js';
import {
  type KeyChanger,
  type KeySettings,
  type KeyStore,
  type MadeKey,
  makeKey,
  type StoredKey,
  inStore as workIn,
} from '../../support/keys.js';
import { pointsOf } from '../../support/open-world.js';
import { encodeFrame, handshake, RawWebSocket } from '../../support/raw-stream.js';
import { sendRaw, startServer } from '../../support/server.js';
import { sharedCommand, sharedServer } from '../../support/shared.js';

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen(0, '::1', () => probe.close(() => resolve(true)));
});

describe('keys of a running server', () => {
  const server = sharedServer();

  const command = sharedCommand();

  /** `hexcodes keys …` in another process. */
  const keys = (...args: string[]) => command.run(['keys', ...args, '--data-dir', server.dataDir]);

  test('a running server sees keys made, disabled and revoked by another process', async () => {
    const made = await keys('create', '--name', 'fleet', '--show');
    const key = made.stdout.trim();
    expect(key).toMatch(/^hxk_[A-Za-z0-9_-]{43}$/);
    await becomes(server, key, 200);

    const line = (await keys('list')).stdout.split('\n').find((l) => l.endsWith('\tfleet')) ?? '';
    const [id = '', state] = line.split('\t');
    expect(state).toBe('active');
    expect(made.stderr).toContain(id);

    await keys('disable', id);
    await becomes(server, key, 403);
    const disabled = await fetch(`${server.base}/v1/meta?apikey=${key}`);
    expect(await disabled.json()).toMatchObject({ status: 'REQUEST_DENIED' });
    await keys('revoke', id);
    await becomes(server, key, 401);
    expect((await keys('list')).stdout).toContain(`${id}\trevoked`);
    expect(await statusOf(server, server.key)).toBe(200);
  });

  test('a revoked key stays revoked; unknown ids are refused, and so is a pipe without --show', async () => {
    const { stderr } = await keys('create', '--name', 'gone', '--show');
    const id = /made key (\w+)/.exec(stderr)?.[1] ?? '';
    expect((await keys('revoke', id)).code).toBe(0);
    for (const args of [
      ['disable', id],
      ['disable', 'nobody'],
      ['revoke', 'nobody'],
      ['create', '--name', 'x'],
    ]) {
      const { code, stderr: why } = await keys(...args);
      expect(code, args.join(' ')).toBe(args[0] === 'create' ? 2 : 1);
      expect(why).toMatch(/^hexcodes: /);
    }
    expect((await keys('list')).stdout).not.toContain('\tx\n');
  });

  test('--out writes the key to a new file, readable by its owner only, and shows nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-key-'));
    const out = join(folder, 'key');
    const made = await keys('create', '--name', 'file', '--out', out);
    const key = readFileSync(out, 'utf8').trim();
    expect(made.stdout).toBe('');
    expect(made.stderr).not.toContain(key);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    await becomes(server, key, 200);
    expect((await keys('create', '--name', 'again', '--out', out)).code).toBe(1);
    expect((await keys('list')).stdout).not.toContain('again');
    rmSync(folder, { recursive: true });
  });

  const filesIn = (folder: string) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

  test('the data folder is readable by its owner only, and contains no key text but first-key', () => {
    for (const name of readdirSync(server.dataDir)) {
      const path = join(server.dataDir, name);
      expect(statSync(path).mode & 0o077, name).toBe(0);
      if (statSync(path).isFile() && name !== 'first-key')
        expect(readFileSync(path).includes(server.key), name).toBe(false);
    }
    expect(readdirSync(server.dataDir)).toContain('first-key');
    expect(statSync(join(server.dataDir, 'first-key')).mode & 0o777).toBe(0o600);
  });

  test('a second server on the same folder makes no other first key', async () => {
    const second = await startServer({ dataDir: server.dataDir });
    expect(second.key).toBe(server.key);
    await second.stop();
    expect((await keys('list')).stdout.match(/\tfirst\n/g)).toHaveLength(1);
  });

  test('keys of the environment are kept in memory only', async () => {
    const secret = 'environment_key-0123456789';
    const own = await startServer({
      apiKeys: [{ name: 'ci', secret }],
      keyPepper: 'pepper of the environment',
    });
    const answer = await fetch(`${own.base}/v1/meta?apikey=${secret}`);
    expect(answer.status).toBe(200);
    expect((await fetch(`${own.base}/v1/meta?apikey=${secret}x`)).status).toBe(401);
    // No first key beside them, no pepper file beside the given pepper, nothing of the secret on disk or in the log.
    const names = filesIn(own.dataDir);
    expect(names.filter((name) => !/^(keys|usage)\.db/.test(name))).toEqual([]);
    for (const name of names) {
      expect(readFileSync(join(own.dataDir, name)).includes(secret)).toBe(false);
    }
    expect(own.log()).not.toContain(secret);
    await own.stop();
  });

  test('a key in a request id or a method goes neither into the log nor into the answer', async () => {
    const { key } = server;
    // The shortest text that may be a key, and one that is shorter.
    const secret = 'secret.012345678';
    const short = secret.slice(1);
    const foreign = 'hxk_foreign_key_that_is_not_known_0123456789';
    for (const [path, headers, id] of [
      ['/v1/meta', { 'X-API-Key': key }, key],
      [`/v1/meta?apikey=${key}`, {}, `a.${key}`],
      ['/v1/meta', { 'X-API-Key': key }, foreign],
      [`/v1/nothing?apikey=${secret}`, {}, secret],
      ['/v1/meta', { 'X-API-Key': key }, foreign.slice(0, 20)],
      ['/v1/hexcodes/nothing', { 'X-API-Key': key }, foreign],
    ] as const) {
      const answer = await fetch(server.base + path, { headers: { ...headers, 'X-Request-Id': id } });
      expect(answer.headers.get('x-request-id')).toBe('withheld');
      expect(await answer.text()).not.toContain(id);
    }
    const shorter = { headers: { 'X-Request-Id': short } };
    const unknown = await fetch(`${server.base}/v1/nothing?apikey=${short}`, shorter);
    expect(unknown.headers.get('x-request-id')).toBe(short);
    const named = await fetch(`${server.base}/v1/hexcodes/${foreign}`, { headers: { 'X-API-Key': key } });
    expect(await named.text()).not.toContain(foreign);
    const received = await sendRaw(
      server.port,
      `${foreign.toUpperCase()} /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(received).toContain('405');
    const all = (server.log() + received).toLowerCase();
    for (const text of [key, secret, foreign]) expect(all).not.toContain(text.toLowerCase());
  });

  test('names of keys reach the terminal without control characters', async () => {
    const name = 'evil\u001b[2J\n00\tactive\u202e';
    const refused = await keys('create', '--name', name, '--show');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('no control characters')]);
    // A key of before, when these names were taken.
    await makeKey(server.dataDir, { name });
    const list = (await keys('list')).stdout;
    for (const text of [refused.stderr.trimEnd(), list.replace(/[\n\t]/g, '')]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
    expect(list).toContain('\tevil\\u001b[2J\\u000a00\\u0009active\\u202e\n');
  });
});

describe('scopes', () => {
  const server = sharedServer({ trustedProxies: ['127.0.0.1'] });

  const inStore = <T>(
    work: (changer: KeyChanger, pepper: string, store: KeyStore) => Promise<T>,
  ): Promise<T> => workIn(server.dataDir, work);

  async function newKey(settings: Partial<KeySettings> = {}): Promise<MadeKey> {
    const made = await makeKey(server.dataDir, settings);
    const isSeen = async () => (await call('/v1/meta', made.text)).status !== 401;
    for (let tries = 0; tries < 400 && !(await isSeen()); tries++) await sleep(10);
    return made;
  }

  const call = (path: string, key: string, init: RequestInit = {}) =>
    fetch(server.base + path, { ...init, headers: { 'X-API-Key': key, ...init.headers } });

  const post = (body: string, type = 'application/json'): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });

  const ENCODES: [string, RequestInit][] = [
    ['/v1/hexcodes/encode?lat=21.03&lng=105.85', {}],
    ['/v1/hexcodes/encode/batch', post('{"points":[[21.03,105.85]]}')],
  ];

  const DECODES: [string, RequestInit][] = [
    ['/v1/hexcodes/decode?hexcodes=nope', {}],
    ['/v1/hexcodes/decode/batch', post('{"hexcodes":["nope"]}')],
  ];

  const BULKS: [string, RequestInit][] = [
    ['/v1/hexcodes/encode/bulk', post('lat,lng\n1,2\n', 'text/csv')],
    ['/v1/hexcodes/decode/bulk', post('hexcodes\nnope\n', 'text/csv')],
  ];

  const LOOKUPS: [string, RequestInit][] = [
    ['/v1/hexcodes/HN-6GHP4-83RFR', {}],
    ['/v1/hexcodes/HN-6GHP4-83RFQ/suggestions', {}],
    ['/v1/grid/12/3252/1803', {}],
  ];

  const ANY: [string, RequestInit][] = [
    ['/v1/meta', {}],
    ['/v1/admin-units', {}],
  ];

  test.each([
    ['encode', ENCODES],
    ['decode', DECODES],
    ['bulk', BULKS],
    ['lookup', LOOKUPS],
    ['admin', []],
  ] as const)('a key of scope %s does that and reads, and all else is 403', async (scope, allowed) => {
    const { text } = await newKey({ scopes: [scope] });
    for (const [path, init] of [...ENCODES, ...DECODES, ...BULKS, ...LOOKUPS, ...ANY]) {
      const answer = await call(path, text, init);
      const isAllowed = [...allowed, ...ANY].some(([name]) => name === path);
      expect([path, answer.status]).toEqual([path, isAllowed ? 200 : 403]);
      const body = await answer.text();
      if (!isAllowed) expect(JSON.parse(body)).toMatchObject({ status: 'REQUEST_DENIED' });
      expect(body).not.toContain(text);
    }
    const peer = await RawWebSocket.open(server.port, handshake(text)).catch((error: Error) => error);
    expect(peer instanceof RawWebSocket).toBe(scope === 'bulk');
    if (peer instanceof RawWebSocket) peer.end();
  });

  test('an expired key is answered as an unknown one is, byte for byte', async () => {
    const { id, text } = await newKey();
    await inStore(async (changer) =>
      changer.update(id, (before) => ({ ...before, expiresMs: Date.now() - 1 })),
    );
    const headers = { 'X-Request-Id': 'same' };
    const answerOf = async (key: string) => {
      const answer = await call('/v1/meta', key, { headers });
      return [answer.status, [...answer.headers].filter(([name]) => name !== 'date'), await answer.text()];
    };
    for (let tries = 0; tries < 400 && (await call('/v1/meta', text)).status === 200; tries++)
      await sleep(10);
    expect(await answerOf(text)).toEqual(await answerOf('unknown'));
  });

  test('a key that ends by the clock: requests, open streams and running uploads', async () => {
    const { text } = await newKey({ expiresMs: Date.now() + 1500 });
    const stream = await RawWebSocket.open(server.port, handshake(text));
    const upload = await RawBulkPeer.connect(server.port);
    await upload.send(requestHead({ path: '/v1/hexcodes/encode/bulk', key: text, format: 'csv' }, 1e9));
    await upload.send('lat,lng\n');
    const sending = setInterval(() => upload.socket.write('21.03,105.85\n'.repeat(100)), 20);
    expect(await stream.closed).toBe(4001);
    await upload.done;
    clearInterval(sending);
    expect(upload.isWhole).toBe(false);
    expect((await call('/v1/meta', text)).status).toBe(401);
  });

  test('a stream ends when the scope is taken from its key, or its text ends by a rotation without overlap', async () => {
    const changes: ((id: string, changer: KeyChanger, pepper: string) => Promise<unknown>)[] = [
      (id, changer) => changer.update(id, (before: StoredKey) => ({ ...before, scopes: ['encode'] })),
      (id, changer, pepper) => changer.rotate(id, 0, pepper, () => {}),
    ];
    for (const change of changes) {
      const { id, text } = await newKey();
      const stream = await RawWebSocket.open(server.port, handshake(text));
      await inStore((changer, pepper) => change(id, changer, pepper));
      expect(await stream.closed).toBe(4001);
    }
  });

  test.each([
    ['networks', { cidrs: ['10.0.0.0/8'] }],
    ['origins', { origins: ['https://a.vn'] }],
  ] as const)(
    'open work follows its key: %s that leave its client out end streams, uploads and batches',
    async (_, bound) => {
      const { id, text } = await newKey();
      const stream = await RawWebSocket.open(server.port, handshake(text));
      const upload = await RawBulkPeer.connect(server.port);
      await upload.send(requestHead({ path: '/v1/hexcodes/encode/bulk', key: text, format: 'csv' }, 1e9));
      await upload.send('lat,lng\n');
      const batch = await RawBulkPeer.connect(server.port);
      const body = '{"points":[{"lat":21,"lng":105.8}]}';
      await batch.send(
        `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${text}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      await batch.send(body.slice(0, 9));
      const sending = setInterval(() => upload.socket.write('21.03,105.85\n'.repeat(100)), 20);
      await inStore((changer) => changer.update(id, (before: StoredKey) => ({ ...before, ...bound })));
      expect(await stream.closed).toBe(4001);
      await upload.done;
      clearInterval(sending);
      expect(upload.isWhole).toBe(false);
      await batch.send(body.slice(9));
      await batch.done;
      expect(batch.status).toBe(403);
      expect(batch.body.toString()).toContain('this API key is not allowed from this');
    },
  );

  test('a changed key that still admits its client ends no connection', async () => {
    const { id, text } = await newKey();
    const stream = await RawWebSocket.open(server.port, handshake(text));
    await inStore((changer) =>
      changer.update(id, (before: StoredKey) => ({ ...before, cidrs: ['127.0.0.0/8'] })),
    );
    const elsewhere = { headers: { 'X-Forwarded-For': '192.0.2.1' } };
    while ((await call('/v1/meta', text, elsewhere)).status !== 403) await sleep(10);
    await sleep(1500);
    stream.send(encodeFrame(1, pointsOf(1, 2)));
    expect((await stream.next()).payload.length).toBe(16 + 2 * 20);
    stream.end();
  });

  test('after a rotation both texts are admitted until the overlap is over', async () => {
    const { id, text } = await newKey();
    let next = '';
    await inStore((changer, pepper) =>
      changer.rotate(id, 2000, pepper, ({ keyText }) => {
        next = keyText;
      }),
    );
    await becomes(server, next, 200);
    expect((await call('/v1/meta', text)).status).toBe(200);
    await becomes(server, text, 401);
    expect((await call('/v1/meta', next)).status).toBe(200);
  });

  test('origins: a key is admitted from these, and not without one', async () => {
    const { text } = await newKey({ origins: ['https://a.vn', 'https://*.b.vn'] });
    const inside = ['https://a.vn', 'https://x.b.vn', 'https://x.y.b.vn'];
    const outside = ['https://c.vn', 'http://a.vn', 'https://a.vn.evil.vn', 'https://b.vn', 'https://.b.vn'];
    outside.push('null', 'https://evil/.b.vn', 'https://x.b.vn:81', 'https://xb.vn');
    for (const [origin, status] of [
      ...inside.map((each) => [each, 200] as const),
      ...outside.map((each) => [each, 403] as const),
      [undefined, 403] as const,
    ]) {
      const headers: Record<string, string> = origin === undefined ? {} : { Origin: origin };
      const answer = await call('/v1/meta', text, { headers });
      expect([origin, answer.status]).toEqual([origin, status]);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('networks: the client behind a trusted proxy counts', async () => {
    const { text } = await newKey({ cidrs: ['192.0.2.0/24', '2001:db8::/32'] });
    for (const [forwarded, status] of [
      ['192.0.2.7', 200],
      ['2001:db8::7', 200],
      ['198.51.100.1, 192.0.2.7', 200],
      ['192.0.2.7, 198.51.100.1', 403],
      ['198.51.100.1', 403],
      // An entry that is not an address leaves the client unknown.
      ['unknown', 403],
      ['192.0.2.7, unknown', 403],
      ['192.0.2.7,', 403],
      ['unknown, 192.0.2.7', 200],
      [undefined, 403],
    ] as const) {
      const headers: Record<string, string> = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
      const answer = await call('/v1/meta', text, { headers });
      expect([forwarded, answer.status]).toEqual([forwarded, status]);
    }
  });

  test.skipIf(!hasIpv6)(
    'networks: a client on IPv6, and on IPv4 of a socket for both (needs IPv6)',
    async () => {
      const both = await startServer({ host: '::', apiKeys: [], dataDir: server.dataDir });
      const { text } = await newKey({ cidrs: ['::/0'] });
      const { text: four } = await newKey({ cidrs: ['127.0.0.1'] });
      const statusOf = async (host: string, key: string) =>
        (await fetch(`http://${host}:${both.port}/v1/meta`, { headers: { 'X-API-Key': key } })).status;
      for (let tries = 0; tries < 400 && (await statusOf('127.0.0.1', four)) === 401; tries++)
        await sleep(10);
      expect([await statusOf('[::1]', text), await statusOf('127.0.0.1', text)]).toEqual([200, 403]);
      expect([await statusOf('[::1]', four), await statusOf('127.0.0.1', four)]).toEqual([403, 200]);
      await both.stop();
    },
  );

  test('a service distinguishes keys that differ in one setting only', async () => {
    const settings: Partial<KeySettings>[] = [{}, { scopes: ['encode'] }, { cidrs: ['192.0.2.0/24'] }, {}];
    settings.push({ origins: ['https://a.vn'] }, { limits: { pointsPerDay: 1 } });
    settings.push({}, {}, {}, {});
    const made: MadeKey[] = [];
    for (const each of settings) made.push(await newKey(each));
    const ended = (before: StoredKey): StoredKey => ({ ...before, expiresMs: Date.now() - 1 });
    await inStore((changer) => changer.update(made[6]!.id, ended));
    await inStore((changer) => changer.setState(made[7]!.id, 'disabled'));
    await inStore((changer) => changer.setState(made[8]!.id, 'revoked'));
    const own = await startServer({ dataDir: server.dataDir });
    const decode = '/v1/hexcodes/decode?hexcodes=nope';
    const answers = made.map(async ({ text }) => {
      const answer = await fetch(own.base + decode, { headers: { 'X-API-Key': text } });
      return [answer.status, answer.headers.get('ratelimit-policy')];
    });
    const ok = [200, null];
    const forbidden = [403, null];
    expect(await Promise.all(answers)).toEqual([
      ...[ok, forbidden, forbidden, ok, forbidden, [200, expect.stringContaining('points-day')]],
      ...[[401, null], forbidden, [401, null], ok],
    ]);
    await own.stop();
  });

  test('when a key was used last is kept, also at the end of the service', async () => {
    const own = await startServer({ dataDir: server.dataDir });
    const { id, text } = await newKey();
    for (let tries = 0; tries < 400; tries++) {
      const answer = await fetch(`${own.base}/v1/meta`, { headers: { 'X-API-Key': text } });
      if (answer.status === 200) break;
      await sleep(10);
    }
    const { key: unused } = await inStore(async (_, __, store) => ({ key: await store.find(id) }));
    expect(unused?.createdMs).toBeGreaterThan(0);
    await own.stop();
    const used = await inStore((_, __, store) => store.find(id));
    expect(used?.lastUsedMs).toBeGreaterThanOrEqual(used?.createdMs as number);
  });
});
