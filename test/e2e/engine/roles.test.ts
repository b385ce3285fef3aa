// deploy/nats/hexcodes.conf on a real server: each role does its work with the real commands, and nothing else.
import { readFileSync } from 'node:fs';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { permissionText, streamPermissions } from '#dist/bus/nats/permissions.js';
import { SubjectMap } from '#dist/bus/subjects.js';
import { CliFolder, type Ran } from '../../support/cli.js';
import { encodeFrame, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { messagesOf, NatsServer, natsNote, noNats } from '../../support/nats.js';

const FILE = 'deploy/nats/hexcodes.conf';
const ROLES = ['producer', 'vehicle', 'worker', 'operator'];
const passwordOf = (role: string): string => `${role}Secret`;

test('the file has the permissions that the setups print', () => {
  const names = {
    ...{ input: 'HEXCODES_IN', output: 'HEXCODES_OUT', dead: 'HEXCODES_DEAD', consumer: 'hexcodes' },
  };
  const streams = streamPermissions({
    ...{ names, maps: [new SubjectMap('hexcodes.in.>=hexcodes.out.>')], deadPrefix: 'hexcodes.dead' },
    positions: { stream: 'HEXCODES_POSITIONS', subjects: ['fleet.*.position'] },
    ...{ collected: 'hexcodes.in.collected', service: 'hexcodes' },
  });
  const text = permissionText(streams);
  expect(readFileSync(FILE, 'utf8').includes(`\n${text}\n`)).toBe(true);
});

describe.skipIf(noNats !== undefined)(`roles on the bus${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let processes: WorkerProcess[] = [];
  beforeAll(async () => {
    for (const role of ROLES) process.env[`NATS_${role.toUpperCase()}_PASSWORD`] = passwordOf(role);
    server = await NatsServer.start((store, mqttPort) => [
      // Addresses, ports and the folder are the test's own.
      ...readFileSync(FILE, 'utf8')
        .replaceAll(/^(?:host|port|mqtt|jetstream)\b.*$/gm, '')
        .split('\n'),
      `jetstream { store_dir: "${store}", max_file: 8G }`,
      `mqtt { host: 127.0.0.1, port: ${mqttPort} }`,
    ]);
    const setup = ['worker', 'setup', '--collect', 'fleet.*.position', '--max-bytes', '64M'];
    const ran = await run('operator', ...setup);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^(made .*\n)+(lasts .*\n)?$/)]);
    expect(ran.stdout).toMatch(/^producer_may = \{[\s\S]*worker_may = \{[\s\S]*operator_may = \{/);
  });
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
  });
  afterAll(async () => {
    for (const role of ROLES) delete process.env[`NATS_${role.toUpperCase()}_PASSWORD`];
    await server?.remove();
    folder.remove();
  });

  const envOf = (role: string): Record<string, string> => ({
    ...{ HEXCODES_NATS_URL: server.url, HEXCODES_NATS_USER: role, HEXCODES_NATS_PASSWORD: passwordOf(role) },
  });
  const run = (role: string, ...args: string[]): Promise<Ran> => folder.run(args, { env: envOf(role) });
  const connect = (role: string): Promise<NatsConnection> =>
    server.connect({ user: role, pass: passwordOf(role) });
  async function start(role: string, words: RegExp, ...command: string[]): Promise<WorkerProcess> {
    const started = new WorkerProcess(server.url, ['--report', '100ms'], envOf(role), {
      ...{ command, cwd: folder.path },
    });
    processes.push(started);
    await started.says(words);
    return started;
  }
  const countOf = async (stream: string): Promise<number> =>
    (await (await jetstreamManager(await connect('operator'))).streams.info(stream)).state.messages;

  test('a producer sends messages and requests, a worker answers them', async () => {
    await start('worker', /works on/, 'worker', 'run');
    const nc = await connect('producer');
    const client = jetstream(nc);
    const frame = encodeFrame(positionsOf(1, 10));
    expect(await client.publish('hexcodes.in.trucks', frame, { msgID: '17' })).toMatchObject({
      duplicate: false,
    });
    expect(await client.publish('hexcodes.in.trucks', frame, { msgID: '17' })).toMatchObject({
      duplicate: true,
    });
    await expect.poll(() => countOf('HEXCODES_OUT')).toBe(1);
    // A message that is none is a dead letter.
    await client.publish('hexcodes.in.trucks', 'x');
    await expect.poll(() => countOf('HEXCODES_DEAD')).toBe(1);
    const service = new WorkerProcess(server.url, [], envOf('worker'), { command: ['worker', 'service'] });
    processes.push(service);
    await service.says('answers');
    const reply = await nc.request('hexcodes.encode', '{"points":[{"lat":21.0288,"lng":105.8525}]}', {
      timeout: 20_000,
    });
    expect(reply.json()).toMatchObject({ results: [{ hexcodes: 'HN-6GHP4-83RFR' }] });
  });

  test('positions of vehicles over MQTT and of producers come out as frames', async () => {
    const before = await countOf('HEXCODES_IN');
    await start('worker', /collects/, 'worker', 'collect');
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, {
      ...{ clientId: 'v', username: 'vehicle', password: passwordOf('vehicle') },
    });
    await client.publishAsync('fleet/7/position', '{"id":7,"lat":21.0288,"lng":105.8525}', { qos: 1 });
    await client.endAsync();
    await jetstream(await connect('producer')).publish(
      'fleet.8.position',
      '{"id":8,"lat":21.0288,"lng":105.8525}',
    );
    await expect.poll(() => countOf('HEXCODES_IN')).toBeGreaterThan(before);
    await expect
      .poll(async () => {
        const frames = await messagesOf(await connect('operator'), 'HEXCODES_IN');
        return frames.map(({ headers }) => headers.get('Hexcodes-Sources') ?? '').join('');
      })
      .toMatch(/7.*8/);
  });

  /** Subjects that a role cannot publish to: the server tells it, and nothing is stored. */
  async function refusedOf(role: string, subjects: readonly string[]): Promise<string[]> {
    const nc = await connect(role);
    const refused: string[] = [];
    (async () => {
      for await (const status of nc.status())
        if (status.type === 'error') refused.push(/to "([^"]+)"/.exec(status.error.message)?.[1] ?? '');
    })();
    for (const subject of subjects) nc.publish(subject, '{}');
    await nc.flush();
    await expect.poll(() => refused.length, { timeout: 5000 }).toBe(subjects.length);
    return refused;
  }

  const API = [
    ...['STREAM.PURGE', 'STREAM.DELETE', 'STREAM.UPDATE', 'STREAM.MSG.DELETE', 'CONSUMER.DELETE'].map(
      (what) => `$JS.API.${what}.HEXCODES_OUT`,
    ),
    '$JS.API.CONSUMER.DELETE.HEXCODES_IN.hexcodes',
  ];

  test('what a producer may not', async () => {
    const subjects = [
      ...[...API, '$JS.API.INFO'],
      ...['hexcodes.out.trucks.17', 'hexcodes.dead.x', 'hexcodes.in.collected.9', '$SRV.PING', 'other'],
    ];
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_DEAD'].map(countOf));
    expect((await refusedOf('producer', subjects)).sort()).toEqual([...subjects].sort());
    expect(await Promise.all(['HEXCODES_OUT', 'HEXCODES_DEAD'].map(countOf))).toEqual(before);
  });

  test('reply subjects of a producer stay in its account', async () => {
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf));
    const nc = await connect('producer');
    for (const reply of ['hexcodes.out.x', '$JS.API.STREAM.PURGE.HEXCODES_OUT'])
      nc.publish('hexcodes.in.x', 'x', { reply });
    await nc.flush();
    await expect.poll(() => countOf('HEXCODES_IN'), { timeout: 5000 }).toBe(before[1]! + 2);
    expect(await countOf('HEXCODES_OUT')).toBe(before[0]);
  });

  test('what a worker may not', async () => {
    const subjects = [...[...API, 'hexcodes.in.x', 'fleet.7.position', 'other']];
    expect((await refusedOf('worker', subjects)).sort()).toEqual([...subjects].sort());
  });

  test('an operator stores neither answers nor dead letters', async () => {
    const subjects = ['hexcodes.out.x.1', 'hexcodes.dead.x'];
    expect((await refusedOf('operator', subjects)).sort()).toEqual([...subjects].sort());
  });

  test('a vehicle publishes its position by MQTT and nothing else', async () => {
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf));
    await expect(connect('vehicle')).rejects.toThrow(/authorization/i);
    const options = { username: 'vehicle', password: passwordOf('vehicle'), reconnectPeriod: 0 };
    for (const topic of ['hexcodes/out/x', 'hexcodes/in/x', '$JS/API/STREAM/PURGE/HEXCODES_OUT']) {
      const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, {
        ...options,
        clientId: 'v',
      });
      client.on('error', () => undefined);
      await Promise.race([
        client.publishAsync(topic, '{}', { qos: 1 }).catch(() => undefined),
        new Promise((resolve) => client.once('close', () => resolve(undefined))),
      ]);
      await client.endAsync(true);
    }
    expect(await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf))).toEqual(before);
  });

  test('without credentials nobody comes in', async () => {
    await expect(server.connect()).rejects.toThrow(/authorization/i);
    const ran = await folder.run(['worker', 'setup', '--nats', server.url]);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('refuses these credentials')]);
  });
});
