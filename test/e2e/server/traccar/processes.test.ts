// The command with a sink for positions: killed and started again, in several processes, with a file and with NATS as
// the sink.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messagesOf, NatsServer, natsNote, noNats } from '../../../support/nats.js';
import { COMMAND_KEY, ServeCommand } from '../../../support/server-process.js';
import { forwardedBody, HttpSinkServer } from '../../../support/traccar.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hexcodes-traccar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const started = (
  sink: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ServeCommand =>
  new ServeCommand(['--traccar-batch-ms', '5', '--log-requests-per-second', '0', ...args], {
    HEXCODES_DATA_DIR: join(folder, 'data'),
    HEXCODES_TRACCAR_SINK: sink,
    ...env,
  });

/** @returns the id of the position; undefined where there was no answer of 200 */
async function sent(base: string, n: number): Promise<string | undefined> {
  const answer = await fetch(`${base}/v1/traccar`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': COMMAND_KEY, Connection: 'close' },
    body: JSON.stringify(forwardedBody(n)),
  }).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  return ((await answer.json().catch(() => undefined)) as { id: string } | undefined)?.id;
}

const leftIn = (data: string): string[] => readdirSync(join(data, 'traccar'));

test('killed in the midst of it, twice: each position that was answered arrives, in order', async () => {
  const sink = await HttpSinkServer.start();
  const taken: string[] = [];
  sink.behaviour = 'refuses';
  for (let round = 0; round < 2; round++) {
    const serve = started(sink.url);
    const base = await serve.base();
    const from = round * 1000;
    for (let n = from; n < from + 40; n++) taken.push((await sent(base, n))!);
    // Under way while the process is killed: some are answered, some are not.
    const open = Array.from({ length: 60 }, (_, i) => sent(base, from + 100 + i));
    await open[20];
    serve.child.kill('SIGKILL');
    await serve.exit;
    const answered = (await Promise.all(open)).filter((id) => id !== undefined);
    taken.push(...answered.map((id) => `?${id}`));
  }
  sink.behaviour = 'takes';
  const serve = started(sink.url);
  const arrived = (): string[] => sink.rows.map(({ id }) => id);
  const wanted = taken.map((id) => id.replace('?', ''));
  while (!wanted.every((id) => arrived().includes(id))) await sleep(20);
  // Deliveries begin before it listens; an order to stop would end it at once then.
  await serve.base();
  await serve.stop();
  // Positions that were sent one after the other.
  const inOrder = taken.filter((id) => !id.startsWith('?'));
  expect(inOrder).toHaveLength(80);
  // On a busy machine the sink may answer too late, and is sent a batch twice.
  const once = [...new Set(arrived())];
  expect(once.filter((id) => inOrder.includes(id))).toEqual(inOrder);
  expect(leftIn(join(folder, 'data'))).toEqual([]);
  await sink.down();
});

test('killed while the sink takes positions: a position may arrive twice, with one id', async () => {
  const sink = await HttpSinkServer.start();
  sink.delayMs = 20;
  const first = started(sink.url);
  const base = await first.base();
  const taken: string[] = [];
  for (let n = 0; n < 60; n++) taken.push((await sent(base, n))!);
  await sink.received(1);
  first.child.kill('SIGKILL');
  await first.exit;
  const second = started(sink.url);
  const ids = (): string[] => sink.rows.map(({ id }) => id);
  while (!taken.every((id) => ids().includes(id))) await sleep(20);
  await second.base();
  await second.stop();
  expect(new Set(ids())).toEqual(new Set(taken));
  expect([...new Set(ids())]).toEqual(taken);
  await sink.down();
});

test('one of several processes is killed: another delivers what it left', async () => {
  const sink = await HttpSinkServer.start();
  sink.behaviour = 'refuses';
  const serve = started(sink.url, ['--processes', '2']);
  const base = await serve.base();
  const taken: string[] = [];
  for (let n = 0; n < 60; n++) taken.push((await sent(base, n))!);
  const { pids } = await serve.line('all processes listen');
  process.kill((pids as number[])[0]!, 'SIGKILL');
  await serve.line('positions that were left are delivered');
  sink.behaviour = 'takes';
  const arrived = (): string[] => sink.rows.map(({ id }) => id);
  while (!taken.every((id) => arrived().includes(id))) await sleep(20);
  await serve.stop();
  // The order to stop may overtake an answer of the sink, on a busy machine: the next start delivers this batch again.
  while (leftIn(join(folder, 'data')).length > 0) {
    // Before the start: the batch may come before the service says that it is ready.
    const before = sink.rows.length;
    const next = started(sink.url, ['--processes', '2']);
    await next.base();
    // An empty backlog may be left, of which no row comes.
    for (const until = performance.now() + 5000; sink.rows.length === before && performance.now() < until; )
      await sleep(20);
    await next.stop();
  }
  expect([...new Set(arrived())].sort()).toEqual([...taken].sort());
  await sink.down();
});

test('each of several processes has a file of its own', async () => {
  const serve = started(`file:${join(folder, 'positions.csv')}`, ['--processes', '2']);
  const base = await serve.base();
  const taken: string[] = [];
  for (let n = 0; n < 60; n++) taken.push((await sent(base, n))!);
  const names = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.csv'));
  const idsIn = (name: string): string[] =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((row) => row.split(',')[0]!);
  while (names().flatMap(idsIn).length < taken.length) await sleep(20);
  expect(names().flatMap(idsIn).sort()).toEqual([...taken].sort());
  for (const name of names()) {
    expect(name).toMatch(/^positions\.[12]\.csv$/);
    const own = idsIn(name);
    expect(own).toEqual(taken.filter((id) => own.includes(id)));
  }
  await serve.stop();
});

describe.skipIf(noNats !== undefined)(`a stream of NATS as the sink${natsNote}`, () => {
  test('each position is a message under its id; a server that is away is waited for', async () => {
    const nats = await NatsServer.start();
    const nc = await nats.connect();
    const jsm = await jetstreamManager(nc);
    await jsm.streams.add({ name: 'FLEET', subjects: ['fleet.>'] });
    const serve = started(`nats://127.0.0.1:${nats.port}/fleet.positions`);
    const base = await serve.base();
    const taken: string[] = [];
    for (let n = 0; n < 20; n++) taken.push((await sent(base, n))!);
    const stored = async (): Promise<number> => (await jsm.streams.info('FLEET')).state.messages;
    while ((await stored()) < 20) await sleep(20);
    // A position again, as after an answer that was lost: no second message.
    await sent(base, 19);
    await nats.kill();
    for (let n = 20; n < 30; n++) taken.push((await sent(base, n))!);
    await serve.line('the sink of positions takes none; they wait on disk');
    await nats.resume();
    await serve.line('the sink of positions takes them again');
    while ((await stored().catch(() => 0)) < 30) await sleep(20);
    const messages = await messagesOf(nc, 'FLEET');
    for (const { subject, bytes, headers } of messages) {
      expect(subject).toBe('fleet.positions');
      expect(headers.get('Nats-Msg-Id')).toBe(JSON.parse(Buffer.from(bytes).toString()).id);
    }
    expect(messages.map(({ headers }) => headers.get('Nats-Msg-Id'))).toEqual(taken);
    await serve.stop();
    await nats.remove();
  });

  test('a server that refuses the credentials for a while: positions come once it takes them again', async () => {
    const users = (password: string): string[] => [
      `authorization { users: [{ user: fleet, password: "${password}" }] }`,
    ];
    const nats = await NatsServer.start((store) => [
      `jetstream { store_dir: "${store}" }`,
      ...users('right'),
    ]);
    const config = readFileSync(nats.file('nats.conf'), 'utf8');
    const nc = await nats.connect({ user: 'fleet', pass: 'right', ignoreAuthErrorAbort: true });
    const jsm = await jetstreamManager(nc);
    await jsm.streams.add({ name: 'FLEET', subjects: ['fleet.>'] });
    const serve = started(`${nats.url}/fleet.positions`, [], {
      HEXCODES_NATS_USER: 'fleet',
      HEXCODES_NATS_PASSWORD: 'right',
    });
    const base = await serve.base();
    const admin = await serve.adminBase();
    const taken: string[] = [];
    for (let n = 0; n < 5; n++) taken.push((await sent(base, n))!);
    const stored = async (): Promise<number> => (await jsm.streams.info('FLEET')).state.messages;
    while ((await stored()) < 5) await sleep(20);
    await nats.kill();
    writeFileSync(nats.file('nats.conf'), config.replace('"right"', '"wrong"'));
    await nats.resume();
    for (let n = 5; n < 9; n++) taken.push((await sent(base, n))!);
    // The client of NATS has given its connection up by then: this sentence is that of a new one.
    const warnings = async (): Promise<string> => (await fetch(`${admin}/readyz`)).text();
    while (!(await warnings()).includes('refuses these credentials')) await sleep(20);
    await nats.kill();
    writeFileSync(nats.file('nats.conf'), config);
    await nats.resume();
    await serve.line('the sink of positions takes them again');
    while ((await stored().catch(() => 0)) < 9) await sleep(20);
    const ids = (await messagesOf(nc, 'FLEET')).map(({ headers }) => headers.get('Nats-Msg-Id'));
    expect(ids).toEqual(taken);
    await serve.stop();
    await nats.remove();
  });
});
