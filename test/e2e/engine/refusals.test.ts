// A worker that cannot work ends with one clear sentence and an exit code; servers that are away are waited for.
import { spawnSync } from 'node:child_process';
import { jetstreamManager, RetentionPolicy } from '@nats-io/jetstream';
import { nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliFolder, type Ran } from '../../support/cli.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const refused = (ran: Ran): [number | null, string] => [ran.code, ran.stderr.replace(/:\d{4,5}/g, ':PORT')];

test.each([
  [['--map', 'a'], '"a" is no map of subjects: FROM=TO, as fleet.*.points=fleet.*.hexcodes'],
  [['--as', 'a=xml'], '"a=xml": PATTERN=FORMAT, of the formats frames, ndjson, csv, json'],
  [['--hold', '0'], '--hold 0: must be a size, as 512M or 10G'],
  [['--report', '5'], '--report 5: must be a time, as 500ms, 5s, 24h or 7d'],
  [['--tries', '0'], '--tries 0: must be a whole number from 1 to 100'],
  [['--monitor', 'x'], '--monitor x: must be an address, as http://127.0.0.1:8222'],
  [['-r', '16'], '--resolution 16: must be an integer from 0 to 15'],
])('%j is wrong', async (args, sentence) => {
  const ran = await folder.run(['worker', ...args]);
  expect([ran.code, ran.stderr]).toEqual([2, `hexcodes: ${sentence}\n`]);
});

test('settings that cannot be are named, passwords never', async () => {
  const ran = await folder.run(['worker', '--creds', 'none'], {
    env: { HEXCODES_NATS_URL: 'nats://me:secret@host' },
  });
  expect([ran.code, ran.stderr.trim().split('\n')]).toEqual([
    2,
    [
      'hexcodes: HEXCODES_NATS_URL must not hold a user or password: HEXCODES_NATS_USER and HEXCODES_NATS_PASSWORD do',
      'hexcodes: --creds names a file that cannot be read: none',
    ],
  ]);
});

describe.skipIf(noNats !== undefined)(`servers${natsNote}`, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start();
  });
  afterAll(() => server.remove());
  const run = (args: string[], env: Record<string, string> = {}, url = server.url): Promise<Ran> =>
    folder.run(['worker', ...args, '--nats', url], { env });

  test('no streams, and no consumer', async () => {
    expect(refused(await run([]))).toEqual([
      1,
      'hexcodes: there is no stream HEXCODES_IN\nhexcodes worker setup makes it\n',
    ]);
    expect((await run(['setup'])).code).toBe(0);
    expect(refused(await run(['--consumer', 'other']))).toEqual([
      1,
      'hexcodes: stream HEXCODES_IN has no consumer other\nhexcodes worker setup makes it\n',
    ]);
  });

  test('streams that would lose or double answers', async () => {
    const jsm = await jetstreamManager(await server.connect());
    expect((await run(['setup'])).code).toBe(0);
    const cases = [
      [['--map', 'a.>=b.>'], 'stream HEXCODES_IN does not take a.>: it takes hexcodes.in.>'],
      [['--map', 'hexcodes.in.>=b.>'], 'stream HEXCODES_OUT does not take b.>: it takes hexcodes.out.>'],
      [['--ordered'], 'consumer hexcodes hands out 4096 messages at a time, so answers are in no order'],
    ] as const;
    for (const [args, sentence] of cases) {
      const ran = await run([...args]);
      expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([1, `hexcodes: ${sentence}`]);
    }
    await jsm.streams.add({ name: 'PLAIN', subjects: ['plain.>'] });
    const ran = await run(['--answers', 'PLAIN', '--map', 'hexcodes.in.>=plain.>']);
    expect(ran.stderr).toContain('stream PLAIN could hold an answer twice');
    await jsm.streams.add({ name: 'QUEUE', subjects: ['q.>'], retention: RetentionPolicy.Workqueue });
    const setup = await run(['setup', '--stream', 'QUEUE', '--map', 'q.>=r.>']);
    expect([setup.code, setup.stderr]).toEqual([
      1,
      'hexcodes: stream QUEUE cannot be made: it has the retention workqueue, which cannot be changed\n',
    ]);
  });

  test('a power cut is warned of, by version, replicas and the monitoring port', async () => {
    expect((await run(['setup'])).code).toBe(0);
    const worker = new WorkerProcess(server.url, ['--monitor', `http://127.0.0.1:${server.monitorPort}`]);
    await worker.says('works on');
    await worker.end();
    expect(worker.text).toMatch(/warning: .* fewer than 3 replicas/);
    expect(worker.text).toMatch(/warning: 127\.0\.0\.1:\d+ syncs its files every .*sync_interval: always/);
  });

  test('a server without JetStream', async () => {
    const plain = await NatsServer.start(() => []);
    try {
      expect(refused(await run([], {}, plain.url))).toEqual([
        1,
        'hexcodes: nats://127.0.0.1:PORT has no JetStream\nStart nats-server with --jetstream, and let the account use it\n',
      ]);
    } finally {
      await plain.remove();
    }
  });

  test('wrong credentials, and right ones: user, token, nkey', async () => {
    const pair = nkeys.createUser();
    folder.write('right.nk', pair.getSeed());
    folder.write('wrong.nk', nkeys.createUser().getSeed());
    const jetStream = (store: string): string => `jetstream { store_dir: "${store}" }`;
    const sentence =
      'hexcodes: nats://127.0.0.1:PORT refuses these credentials\nGive --creds, --nkey, or --user with HEXCODES_NATS_PASSWORD, or HEXCODES_NATS_TOKEN\n';
    const cases: [string, { args?: string[]; env?: Record<string, string> }[], typeof wrongOnes][] = [];
    const wrongOnes: { args?: string[]; env?: Record<string, string> }[] = [{}];
    cases.push(
      [
        'authorization { user: "me", password: "right one" }',
        [{ args: ['--user', 'me'], env: { HEXCODES_NATS_PASSWORD: 'right one' } }],
        [...wrongOnes, { args: ['--user', 'me'], env: { HEXCODES_NATS_PASSWORD: 'wrong' } }],
      ],
      [
        'authorization { token: "right one" }',
        [{ env: { HEXCODES_NATS_TOKEN: 'right one' } }],
        [...wrongOnes, { env: { HEXCODES_NATS_TOKEN: 'wrong' } }],
      ],
      [
        `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`,
        [{ args: ['--nkey', 'right.nk'] }],
        [...wrongOnes, { args: ['--nkey', 'wrong.nk'] }],
      ],
    );
    for (const [line, right, wrong] of cases) {
      const guarded = await NatsServer.start((store) => [jetStream(store), line]);
      try {
        for (const { args = [], env = {} } of wrong)
          expect(refused(await run(['setup', ...args], env, guarded.url))).toEqual([1, sentence]);
        for (const { args = [], env = {} } of right)
          expect((await run(['setup', ...args], env, guarded.url)).stderr).toMatch(
            /^(made .*\n){4}lasts .*\n$/,
          );
      } finally {
        await guarded.remove();
      }
    }
  });

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('TLS, by a signer that is given', async () => {
    const guarded = await NatsServer.start((store) => {
      const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
      const files = [
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        `${store}/key.pem`,
        '-out',
        `${store}/cert.pem`,
      ];
      spawnSync('openssl', ['req', '-x509', '-days', '2', ...files, ...names]);
      return [
        `jetstream { store_dir: "${store}" }`,
        `tls { cert_file: "${store}/cert.pem", key_file: "${store}/key.pem" }`,
      ];
    });
    try {
      const without = await run(['setup'], {}, guarded.url);
      expect([without.code, without.stderr]).toEqual([
        1,
        expect.stringMatching(/: no TLS connection: .*\n.*--tls-ca\n$/),
      ]);
      const made = await run(['setup', '--tls-ca', guarded.file('cert.pem')], {}, guarded.url);
      expect(made.stderr).toMatch(/^(made .*\n){4}lasts .*\n$/);
    } finally {
      await guarded.remove();
    }
  });

  test('a server that is away: setup says so, a worker waits and then works', async () => {
    const late = await NatsServer.start();
    try {
      expect((await run(['setup'], {}, late.url)).code).toBe(0);
      await late.kill();
      expect(refused(await run(['setup'], {}, late.url))[1]).toMatch(
        /^hexcodes: nats:\/\/127\.0\.0\.1:PORT cannot be reached: .*ECONNREFUSED.*\n$/,
      );
      const worker = new WorkerProcess(late.url);
      await worker.says(/cannot be reached: .*; waiting/);
      await late.resume();
      await worker.says('works on');
      expect(await worker.end()).toBe(0);
    } finally {
      await late.remove();
    }
  });

  test('a stream that is deleted under a worker ends it with a sentence', async () => {
    const own = await NatsServer.start();
    try {
      expect((await run(['setup'], {}, own.url)).code).toBe(0);
      const worker = new WorkerProcess(own.url);
      await worker.says('works on');
      await (await jetstreamManager(await own.connect())).streams.delete('HEXCODES_IN');
      expect(await worker.ended()).toBe(1);
      expect(worker.text).toContain('stream HEXCODES_IN or its consumer hexcodes is gone');
    } finally {
      await own.remove();
    }
  });
});
