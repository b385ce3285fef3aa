// Single positions become hexcodes by a collector and a worker; a service answers requests; both are watched; servers
// that ask for nothing are warned of.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { ServiceError, Svcm } from '@nats-io/services';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openWarning } from '#dist/bus/nats/nats-bus.js';
import { CliFolder } from '../../support/cli.js';
import {
  answerByLibrary,
  encodeFrame,
  loadLibrary,
  positionsOf,
  WorkerProcess,
} from '../../support/engine/frames.js';
import { scrape, sumOf } from '../../support/metrics.js';
import { messagesOf, NatsServer, natsNote, noNats } from '../../support/nats.js';
import { freePort } from '../../support/network.js';
import { startServer, type TestServer } from '../../support/server.js';
import { sharedCommand } from '../../support/shared.js';
import { shippedFiles, VERSION } from '../../support/shipped.js';

const library = await loadLibrary();

describe.skipIf(noNats !== undefined)(`the collector${natsNote}`, () => {
  const folder = sharedCommand();
  let server: NatsServer;
  let nc: NatsConnection;

  let processes: WorkerProcess[] = [];

  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
    await server.remove();
  });

  async function setUp(): Promise<void> {
    server = await NatsServer.start();
    nc = await server.connect();
    const args = ['--nats', server.url, '--max-bytes', '256M', '--collect', 'fleet.*.position'];
    const ran = await folder.run(['worker', 'setup', ...args]);
    expect([ran.code, ran.stderr.split('\n').length]).toEqual([0, 7]);
  }
  function start(...args: string[]): WorkerProcess {
    const started = new WorkerProcess(server.url, [...args, '--report', '100ms']);
    processes.push(started);
    return started;
  }

  interface Answer {
    readonly source: string;
    readonly code: string;
  }
  /** The answers to all positions, in the order of the frames. */
  async function answers(): Promise<Answer[]> {
    const frames = await messagesOf(nc, 'HEXCODES_OUT');
    return frames
      .sort((a, b) => firstOf(a.headers) - firstOf(b.headers))
      .flatMap(({ bytes, headers }) => {
        const sources = JSON.parse(headers.get('Hexcodes-Sources')!) as string[];
        expect(bytes.length).toBe(16 + 20 * sources.length);
        return sources.map((source, i) => ({
          source,
          code: new TextDecoder().decode(bytes.subarray(16 + 20 * i, 35 + 20 * i)).replace(/\0+$/, ''),
        }));
      });
  }
  const firstOf = (headers: ReadonlyMap<string, string>): number =>
    Number(headers.get('Hexcodes-Sequences')!.split('-')[0]);
  const codeOf = (latDeg: number, lngDeg: number): string => {
    try {
      return library.encode(latDeg, lngDeg).hexcodes;
    } catch {
      return '';
    }
  };

  test('MQTT publishes come out as hexcodes, those of one vehicle in their order', async () => {
    await setUp();
    start('collect');
    start('run');
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, { clientId: 'vehicles' });
    const latLng = positionsOf(1, 500);
    const wanted: Answer[] = [];
    const publishing: Promise<unknown>[] = [];
    for (let i = 0; i < 500; i++) {
      const [lat, lng] = [latLng[2 * i]!, latLng[2 * i + 1]!];
      const vehicle = `xe-${i % 7}`;
      // As vehicles do it, and as Traccar forwards it.
      const message =
        i % 2 === 0
          ? { id: vehicle, lat, lng, speed: 7 }
          : {
              position: { latitude: lat, longitude: lng, deviceId: 3 },
              device: { id: 3, uniqueId: vehicle },
            };
      wanted.push({ source: vehicle, code: codeOf(lat, lng) });
      publishing.push(client.publishAsync(`fleet/${i % 7}/position`, JSON.stringify(message), { qos: 1 }));
    }
    await Promise.all(publishing);
    await expect.poll(async () => (await answers()).length, { timeout: 60_000, interval: 300 }).toBe(500);
    const found = await answers();
    for (let vehicle = 0; vehicle < 7; vehicle++) {
      const of = (all: Answer[]) => all.filter(({ source }) => source === `xe-${vehicle}`);
      expect(of(found)).toEqual(of(wanted));
    }
    await client.endAsync();
  });

  test('a message without a position is a dead letter, one without a vehicle has its subject', async () => {
    await setUp();
    const at = '"lat":21.03,"lng":105.85';
    const long = 'x'.repeat(1000);
    const sources = [
      [`{${at}}`, 'fleet.3.position'],
      [`{${at},"id":9}`, '9'],
      [`{"gps":{"imei":"9",${at}}}`, '9'],
      ...['9007199254740993', '123456789012345678901234', '-9007199254740993'].map((id) => [
        ...[`{${at},"id":${id}}`, id],
      ]),
      [`{${at},"id":"${long}"}`, long],
    ] as [string, string][];
    const refused = ['x', '{"speed":7}', `{${at},"id":1e400}`, `{${at},"id":"${long}x"}`];
    for (const body of [...sources.map(([text]) => text), ...refused])
      await jetstream(nc).publish('fleet.3.position', body);
    const collector = start('collect');
    start('run');
    await expect.poll(async () => (await answers()).length).toBe(sources.length);
    expect(await answers()).toEqual(sources.map(([, source]) => ({ source, code: codeOf(21.03, 105.85) })));
    await collector.says(/7 positions {2}\d frames {2}4 dead letters/);
    const letters = await messagesOf(nc, 'HEXCODES_DEAD');
    expect(letters.map(({ headers }) => headers.get('Hexcodes-Reason')?.slice(0, 23))).toEqual([
      ...['it is not JSON', 'it has no members for l', 'it has a number beyond ', 'its id has 1001 charact'],
    ]);
    expect(await collector.end()).toBe(0);
  });

  test('two collectors, one killed again and again, and the server once: each position in one frame', async () => {
    await setUp();
    const count = 4000;
    const latLng = positionsOf(2, count);
    const client = jetstream(nc);
    const publish = async (i: number): Promise<void> => {
      const body = JSON.stringify({ id: i, lat: latLng[2 * i], lng: latLng[2 * i + 1] });
      // Sent again where its acknowledgement was lost: the stream knows the id.
      for (;;)
        try {
          await client.publish(`fleet.${i % 9}.position`, body, { msgID: `p${i}`, timeout: 2000 });
          return;
        } catch {}
    };
    const small = ['collect', '--points', '50', '--wait', '20ms'];
    start(...small);
    let victim = start(...small);
    for (let from = 0; from < count; from += 200) {
      await Promise.all(Array.from({ length: 200 }, (_, k) => publish(from + k)));
      if (from === 2000) {
        await server.kill();
        await server.resume();
      }
      if (from % 800 === 0) {
        await victim.end('SIGKILL');
        victim = start(...small);
      }
    }
    const jsm = await jetstreamManager(nc);
    const lastOf = async (): Promise<number> => {
      const frame = await jsm.streams.getMessage('HEXCODES_IN', { last_by_subj: 'hexcodes.in.collected.*' });
      return Number(frame?.header.get('Hexcodes-Sequences').split('-')[1]);
    };
    const { last_seq } = (await jsm.streams.info('HEXCODES_POSITIONS')).state;
    await expect.poll(lastOf, { timeout: 60_000, interval: 200 }).toBe(last_seq);
    const frames = await messagesOf(nc, 'HEXCODES_IN');
    const sources = frames
      .sort((a, b) => firstOf(a.headers) - firstOf(b.headers))
      .flatMap(({ bytes, headers }) => {
        const ids = JSON.parse(headers.get('Hexcodes-Sources')!) as string[];
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        return ids.map((id, k) => ({ id: Number(id), lat: view.getFloat64(16 + 16 * k, true) }));
      });
    expect(sources.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
    for (const { id, lat } of sources) expect(lat).toBe(latLng[2 * id]);
  });
});

describe.skipIf(noNats !== undefined)(`hexcodes worker service${natsNote}`, () => {
  let server: NatsServer;
  let http: TestServer;
  let nc: NatsConnection;
  const instances: WorkerProcess[] = [];
  beforeAll(async () => {
    // No JetStream is needed.
    server = await NatsServer.start(() => []);
    http = await startServer({}, shippedFiles());
    nc = await server.connect();
    for (let i = 0; i < 2; i++) instances.push(new WorkerProcess(server.url, ['service']));
    for (const instance of instances) await instance.says('answers hexcodes.encode and hexcodes.decode');
  });
  afterAll(async () => {
    for (const instance of instances) await instance.end('SIGKILL');
    await http.stop();
    await server.remove();
  });
  const ask = (operation: string, request: Uint8Array | string) =>
    nc.request(`hexcodes.${operation}`, request, { timeout: 20_000 });

  test('a service that says that it answers does, however slowly its words reach the server', async () => {
    const link = createServer((near) => {
      const far = connect(server.port, '127.0.0.1');
      near.on('data', (bytes) => setTimeout(() => far.write(bytes), 200));
      far.on('data', (bytes) => near.write(bytes));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const)
        one.on('error', () => {}).on('close', () => other.destroy());
    });
    link.listen(await freePort(), '127.0.0.1');
    await once(link, 'listening');
    const { port } = link.address() as AddressInfo;
    const slow = new WorkerProcess(`nats://127.0.0.1:${port}`, ['service', '--name', 'slow']);
    onTestFinished(async () => {
      await slow.end('SIGKILL');
      link.close();
    });

    await slow.says('answers slow.encode');
    const reply = await nc.request('slow.encode', encodeFrame(positionsOf(1, 1)), { timeout: 20_000 });
    expect(reply.data.subarray(16)).not.toHaveLength(0);
  });

  test('a frame is answered as by the library', async () => {
    const latLng = positionsOf(3, 5000);
    const { data } = await ask('encode', encodeFrame(latLng, 4));
    expect(Buffer.compare(data, answerByLibrary(await loadLibrary(), latLng, 4))).toBe(0);
  });

  test.each([
    [
      'encode',
      {
        points: [
          { lat: 21.03, lng: 105.85, id: 7 },
          { lat: 1, lng: 1 },
        ],
        resolution: 9,
      },
    ],
    ['decode', { hexcodes: ['HN-6GHP4-83RFR', 'x'] }],
  ])('a JSON batch to %s is answered as over HTTP', async (operation, batch) => {
    const body = JSON.stringify(batch);
    const answer = await fetch(`${http.base}/v1/hexcodes/${operation}/batch`, {
      ...{ method: 'POST', body },
      headers: { 'X-API-Key': http.key, 'Content-Type': 'application/json' },
    });
    expect((await ask(operation, body)).string()).toBe(await answer.text());
  });

  test.each([
    ['encode', '{', 400],
    ['encode', '{"hexcodes":[]}', 400],
    ['decode', encodeFrame(positionsOf(1, 2)), 400],
    ['encode', encodeFrame(positionsOf(1, 2)).subarray(1), 400],
    ['encode', encodeFrame(positionsOf(1, 2)).subarray(0, -1), 400],
    ['encode', JSON.stringify({ points: Array(10_001).fill({}) }), 413],
    ['encode', encodeFrame(positionsOf(1, 60_000)), 413],
  ])('%s %#: refused with %i', async (operation, request, code) => {
    const error = ServiceError.toServiceError((await ask(operation, request)) as never);
    expect(error?.code).toBe(code);
  });

  test('instances are found, share the requests and count points', async () => {
    const client = new Svcm(nc as never).client();
    const found = [];
    for await (const info of await client.info('hexcodes')) found.push(info);
    expect(found.map(({ name, version }) => [name, version])).toEqual([
      ['hexcodes', VERSION],
      ['hexcodes', VERSION],
    ]);
    expect(found[0]?.endpoints.map(({ subject }) => subject).sort()).toEqual([
      'hexcodes.decode',
      'hexcodes.encode',
    ]);
    const latLng = positionsOf(3, 10);
    const points = async (): Promise<number> => {
      let sum = 0;
      for await (const { endpoints = [] } of await client.stats('hexcodes'))
        for (const { subject, data } of endpoints)
          if (subject === 'hexcodes.encode') sum += (data as { points: number }).points;
      return sum;
    };
    const before = await points();
    for (let i = 0; i < 20; i++) await ask('encode', encodeFrame(latLng));
    expect((await points()) - before).toBe(200);
  });

  test('stopped, it no longer answers, and exits with 0', async () => {
    for (const instance of instances) expect(await instance.end()).toBe(0);
    await expect(ask('encode', '{"points":[]}')).rejects.toThrow(/no responders/i);
  });
});

const portOf = async (worker: WorkerProcess): Promise<number> => {
  await worker.says(/\/metrics on 127\.0\.0\.1:\d+/);
  return Number(/\/metrics on 127\.0\.0\.1:(\d+)/.exec(worker.text)![1]);
};

const ask = async (port: number, path: string): Promise<[number, string]> => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return [answer.status, await answer.text()];
};

describe.skipIf(noNats !== undefined)(`watched workers${natsNote}`, () => {
  const folder = sharedCommand();
  let server: NatsServer;
  const workers: WorkerProcess[] = [];
  const start = (command: string[], args: string[] = []): WorkerProcess => {
    const worker = new WorkerProcess(server.url, ['--admin-port', '0', ...args], {}, { command });
    workers.push(worker);
    return worker;
  };
  const setUp = (...args: string[]) => folder.run(['worker', 'setup', '--nats', server.url, ...args]);
  beforeAll(async () => {
    server = await NatsServer.start();
    const made = await setUp('--max-bytes', '1M', '--collect', 'fleet.*.position');
    expect(made.code, made.stderr).toBe(0);
  });
  afterAll(async () => {
    for (const worker of workers) await worker.end('SIGKILL');
    await server.remove();
  });

  test('a worker counts, names every dead letter, warns at 80 % and is unready without the bus', async () => {
    const worker = start(['worker'], ['--report', '100ms']);
    const port = await portOf(worker);
    await expect.poll(() => ask(port, '/readyz')).toEqual([200, 'ready\n']);
    expect(await ask(port, '/livez')).toEqual([200, 'alive\n']);
    expect((await ask(port, '/other'))[0]).toBe(404);
    const nc = await server.connect();
    const frame = encodeFrame(positionsOf(1, 2000), 1);
    for (let i = 0; i < 22; i++) await jetstream(nc).publish('hexcodes.in.a', frame);
    for (let i = 0; i < 60; i++) await jetstream(nc).publish('hexcodes.in.a', `damaged ${i}`);
    const own = headers();
    own.set('Hexcodes-Format', 'xml');
    await jetstream(nc).publish('hexcodes.in.a', frame, { headers: own });
    await worker.says(/22 messages .* 61 dead letters/);
    expect(worker.text.match(/dead letter: stream HEXCODES_IN, message \d+/g)).toHaveLength(61);
    await worker.says(/warning: HEXCODES_OUT is \d\d % full/);
    const { metrics } = await scrape(port);
    const value = (name: string, labels = {}): number =>
      sumOf(metrics, `hexcodes_worker_${name}`, { role: 'worker', ...labels });
    expect([value('messages_total'), value('points_total'), value('dead_letters_total')]).toEqual([
      22, 44_000, 61,
    ]);
    expect(value('duration_seconds_count')).toBe(83);
    expect(value('ready')).toBe(1);
    await expect
      .poll(async () => sumOf((await scrape(port)).metrics, 'hexcodes_worker_waiting_messages'))
      .toBe(0);
    const bytes = sumOf(metrics, 'hexcodes_bus_stream_limit_bytes', { stream: 'HEXCODES_IN' });
    expect(bytes).toBe(2 ** 20);
    expect(sumOf(metrics, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    await server.kill();
    await expect.poll(() => ask(port, '/readyz')).toEqual([503, 'the bus does not answer\n']);
    expect(await ask(port, '/livez')).toEqual([200, 'alive\n']);
    await server.resume();
    await expect.poll(() => ask(port, '/readyz')).toEqual([200, 'ready\n']);
  });

  test('collectors are watched, and every metric has its row and is drawn', async () => {
    const [collector, worker] = [start(['worker', 'collect']), start(['worker'])];
    const names = new Set<string>();
    for (const each of [collector, worker]) {
      const port = await portOf(each);
      await expect.poll(() => ask(port, '/readyz')).toEqual([200, 'ready\n']);
      for (const [, name] of (await scrape(port)).text.matchAll(/^# TYPE (hexcodes_\w+)/gm)) names.add(name!);
    }
    const rows = [
      ...readFileSync('docs/reference/worker-metrics.md', 'utf8').matchAll(
        /^\| `(hexcodes_(?:worker|bus)_\w+)`/gm,
      ),
    ];
    expect(rows.map(([, name]) => name).sort()).toEqual([...names].sort());
    const alerts = readFileSync('deploy/prometheus/workers.yml', 'utf8');
    const drawn = readFileSync('deploy/grafana/workers.json', 'utf8');
    const used = new Set(
      [...`${alerts}${drawn}`.matchAll(/hexcodes_(?:worker|bus)_\w+/g)].map(([name]) =>
        name.replace(/_(bucket|sum|count)$/, ''),
      ),
    );
    expect([...used].filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => !used.has(name))).toEqual([]);
  });

  test('setup says how long what it made lasts, and computes the sizes of a rate', async () => {
    const small = await setUp('--max-bytes', '8M', '--points-per-second', '1000', '--keep', '2h');
    expect(small.stderr).toMatch(
      /warning: at 1,000 points\/s .* HEXCODES_OUT lasts 0\.\d+ h of 2 h, and is full then/,
    );
    const sized = await setUp('--points-per-second', '1000', '--keep', '2h');
    expect(sized.stderr).toMatch(/HEXCODES_IN lasts 2 h of 2 h; HEXCODES_IN 0\.14 GB, HEXCODES_OUT 0\.27 GB/);
    const wrong = await setUp('--points-per-second', '0');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--points-per-second 0: must be'),
    ]);
  });
});

test.each([
  ['10.0.0.7', '10.0.0.7:4222', {}, true],
  ['0.0.0.0', '127.0.0.1:4222', {}, true],
  ['127.0.0.1', '10.0.0.7:4222', {}, true],
  ['::', '[::1]:4222', {}, true],
  ['::1', '[::1]:4222', {}, false],
  ['127.0.0.1', 'localhost:4222', {}, false],
  ['127.0.0.1', '127.1.2.3:4222', {}, false],
  ['0.0.0.0', '10.0.0.7:4222', { auth_required: true }, false],
  ['0.0.0.0', '10.0.0.7:4222', { tls_required: true }, true],
  ['0.0.0.0', '10.0.0.7:4222', { tls_verify: true }, false],
])('a server on %s, reached at %s, with %j: warned %s', (host, address, more, isWarned) => {
  expect(openWarning({ host, ...more } as never, address) !== undefined).toBe(isWarned);
});

const canIsolate = spawnSync('unshare', ['-n', 'true']).status === 0;

describe.skipIf(noNats !== undefined || !canIsolate)(`servers that ask for nothing${natsNote}`, () => {
  const folder = new CliFolder();
  afterAll(() => folder.remove());
  const WARNING =
    /warning: .* listens beyond this machine and asks for no credentials: .*deploy\/nats\/hexcodes\.conf/;

  test.each([
    ['host: 0.0.0.0', true],
    ['host: "::"', true],
    ['host: 127.0.0.1', false],
    ['host: localhost', false],
    ['host: 0.0.0.0\nauthorization { user: me, password: secret }', false],
  ])(
    '%s: warned %s',
    async (lines, isWarned) => {
      const store = folder.file('store');
      folder.write('nats.conf', `port: 4222\njetstream { store_dir: "${store}" }\n${lines}\n`);
      const program = ['/usr/sbin/nats-server', '/usr/bin/nats-server'].find((path) => existsSync(path))!;
      const main = join(process.cwd(), 'dist/cli/main.js');
      const started = (name: string, ...args: string[]): string =>
        `${process.execPath} ${main} ${args.join(' ')} 2> ${name}.said & pids="$pids $!"`;
      const script = [
        ...['ip link set lo up', `${program} -c nats.conf 2> log &`, 'pids="$!"'],
        'for i in $(seq 200); do grep -q "Server is ready" log && break; sleep 0.05; done',
        `${process.execPath} ${main} worker setup --collect fleet.x --max-bytes 16M 2> setup.said || exit 1`,
        ...[started('worker', 'worker'), started('collect', 'worker', 'collect')],
        started('service', 'worker', 'service'),
        'for f in worker collect service; do for i in $(seq 200); do grep -Eq "works on|collects|answers" $f.said && break; sleep 0.05; done; done',
        'kill $pids; wait',
      ].join('\n');
      const ran = spawnSync('unshare', ['-n', 'sh', '-c', script], {
        ...{ cwd: folder.path, encoding: 'utf8', timeout: 60_000 },
        env: { ...process.env, HEXCODES_NATS_USER: 'me', HEXCODES_NATS_PASSWORD: 'secret' },
      });
      expect(ran.status).toBe(0);
      for (const name of ['setup', 'worker', 'collect', 'service'])
        expect([name, WARNING.test(folder.read(`${name}.said`))]).toEqual([name, isWarned]);
      rmSync(store, { recursive: true });
    },
    90_000,
  );
});
