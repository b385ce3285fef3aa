// Workers, collectors and services meet messages that no client sends: damaged headers, long subjects and ids, forged
// frames. Each costs a dead letter or a sentence, and the work goes on.
import { createConnection } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { encodeFrame, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

describe.skipIf(noNats !== undefined)(`workers of messages${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let nc: NatsConnection;
  let processes: WorkerProcess[] = [];
  beforeEach(async () => {
    server = await NatsServer.start();
    nc = await server.connect();
    const setup = ['worker', 'setup', '--nats', server.url, '--max-bytes', '128M', '--collect', 'fleet.>'];
    expect((await folder.run(setup)).code).toBe(0);
  });
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
    await server.remove();
  });
  afterAll(() => folder.remove());
  async function start(command: string, words: string): Promise<WorkerProcess> {
    const report = command === 'service' ? [] : ['--report', '100ms'];
    const started = new WorkerProcess(server.url, [command, ...report]);
    processes.push(started);
    await started.says(words);
    return started;
  }
  const countOf = async (stream: string): Promise<number> =>
    (await (await jetstreamManager(nc)).streams.info(stream)).state.messages;

  /** Sends lines of the protocol that no client sends. */
  async function raw(subject: string, headers: string, body: string): Promise<void> {
    const head = `NATS/1.0\r\n${headers}\r\n\r\n`;
    const socket = createConnection(Number(new URL(server.url).port), '127.0.0.1');
    socket.setEncoding('latin1');
    let said = '';
    socket.on('data', (text: string) => {
      said += text;
    });
    socket.write('CONNECT {"verbose":false,"headers":true,"echo":false}\r\n');
    socket.write(
      `HPUB ${subject} ${head.length} ${head.length + body.length}\r\n${head}${body}\r\nPING\r\n`,
      'latin1',
    );
    await expect.poll(() => said, { timeout: 5000 }).toContain('PONG');
    socket.destroy();
  }

  const HEADERS = [
    ...['a b: c', ' Lead: x', ': x', 'x\ty: z', 'Ünï: x', 'A: b\rc', 'A: b\nc', 'A: \u0000', 'no colon'],
    ...['Nats-Msg-Id: a\rb', 'Nats-Msg-Id: \u0000', `Nats-Msg-Id: ${'y'.repeat(5000)}`, 'nats-Rollup: all'],
    ...['Hexcodes-Format: __proto__', 'Hexcodes-Resolution: 1e9', 'Hexcodes-Id: x', 'Hexcodes-Subject: x'],
  ];

  test('long subjects and odd headers cost one dead letter each, and nothing else', async () => {
    const worker = await start('run', 'works on');
    for (const length of [3300, 3600, 3900])
      nc.publish(`hexcodes.in.${'x'.repeat(length)}`, encodeFrame(positionsOf(1, 1)));
    for (const length of [3300, 3600, 3900]) nc.publish(`hexcodes.in.${'y'.repeat(length)}`, 'no frame');
    await nc.flush();
    for (const header of HEADERS) await raw('hexcodes.in.odd', header, 'no frame');
    for (let i = 0; i < 50; i++) nc.publish('hexcodes.in.good', encodeFrame(positionsOf(i, 2)));
    await expect.poll(() => countOf('HEXCODES_OUT')).toBeGreaterThanOrEqual(51);
    await expect.poll(() => worker.counts.messages + worker.counts.dead).toBe(56 + HEADERS.length);
    expect([worker.counts.redelivered, worker.hasEnded]).toEqual([0, false]);
  });

  test('a collector goes on behind long ids, odd headers and long subjects', async () => {
    const collector = await start('collect', 'collects');
    const position = '{"id":1,"lat":21.0288,"lng":105.8525}';
    nc.publish('fleet.1', `{"id":"${'i'.repeat(900_000)}","lat":21,"lng":105}`);
    nc.publish(`fleet.${'x'.repeat(3900)}`, 'none');
    for (const header of HEADERS) await raw('fleet.odd', header, 'none');
    for (let i = 0; i < 10; i++) nc.publish('fleet.1', position);
    await collector.says(/10 positions/);
    expect(collector.text).toMatch(new RegExp(`${HEADERS.length + 2} dead letters`));
    expect(collector.text).not.toMatch(/stops for a moment|is not stored yet/);
  });

  test('a collector leaves no position out for a forged frame', async () => {
    nc.publish('fleet.1', '{"id":1,"lat":21.0288,"lng":105.8525}');
    await raw('hexcodes.in.collected.1', 'Hexcodes-Sequences: 1-999999999', 'x');
    const collector = await start('collect', 'stops for a moment');
    expect(collector.text).toMatch(
      /hexcodes\.in\.collected\.1, is none of a collector: .*nats stream rmm HEXCODES_IN 1/,
    );
    await (await jetstreamManager(nc)).streams.deleteMessage('HEXCODES_IN', 1);
    await collector.says(/1 positions/);
  });

  test('a service answers no request whose answer would go to the server', async () => {
    await start('service', 'answers');
    const before = await countOf('HEXCODES_IN');
    nc.publish('hexcodes.in.x', encodeFrame(positionsOf(1, 1)));
    for (const what of ['STREAM.PURGE', 'STREAM.DELETE'])
      nc.publish('hexcodes.encode', '{"points":[]}', { reply: `$JS.API.${what}.HEXCODES_IN` });
    const reply = await nc.request('hexcodes.encode', '{"points":[]}', { timeout: 20_000 });
    expect(reply.json()).toMatchObject({ results: [] });
    expect(await countOf('HEXCODES_IN')).toBe(before + 1);
  });
});
