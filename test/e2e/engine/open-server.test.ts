// Every command on the bus warns where a server listens beyond its machine and asks for no credentials. The servers
// have a network namespace of their own, where they can be reached by nobody.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openWarning } from '#dist/bus/nats/connect.js';
import { CliFolder } from '../../support/cli.js';
import { natsNote, noNats } from '../../support/nats.js';

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
