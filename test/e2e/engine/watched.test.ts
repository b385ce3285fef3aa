// Workers are watched by /livez, /readyz and /metrics, name dead letters and streams that are nearly full; setup says
// how long its streams last.
import { readFileSync } from 'node:fs';
import { jetstream } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { encodeFrame, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { scrape, sumOf } from '../../support/metrics.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

const portOf = async (worker: WorkerProcess): Promise<number> => {
  await worker.says(/\/metrics on 127\.0\.0\.1:\d+/);
  return Number(/\/metrics on 127\.0\.0\.1:(\d+)/.exec(worker.text)![1]);
};
const ask = async (port: number, path: string): Promise<[number, string]> => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return [answer.status, await answer.text()];
};

describe.skipIf(noNats !== undefined)(`watched workers${natsNote}`, () => {
  const folder = new CliFolder();
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
    folder.remove();
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
