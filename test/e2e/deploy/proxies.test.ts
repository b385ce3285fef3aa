// The proxy files that ship: each program accepts its file, a rolling restart of two nodes behind it loses nothing,
// bodies pass whole, refused ones give their reason, and nobody can forge an address. Each proxy is skipped by its name
// where it is not installed; all but the first need root, for a network of their own. The large twin is `npm run
// proof -- rolling`.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasProgram, installProxy, PROXIES, PROXY_ENV } from '../../support/deploy/proxies.js';
import { Proxied, runStale } from '../../support/deploy/run-in-namespace.js';
import { buildGo, INTERVALS_SEC, reportsOf } from '../../support/deploy/task-paced.js';
import { canHaveNamespaces } from '../../support/network.js';
import { ownFolder } from '../../support/shared.js';

/** Connections without a key that the files allow one address, and all, a hundredth of them. */
const BOUND_OF_ADDRESS = 50;
const BOUND_OF_ALL = 150;

const folder = ownFolder('proxies');
const go = canHaveNamespaces() ? buildGo(folder) : undefined;

for (const proxy of PROXIES) {
  describe.skipIf(!hasProgram(proxy.program))(`${proxy.name} (where ${proxy.program} is installed)`, () => {
    test('accepts its file without a warning', () => {
      const path = installProxy(proxy, folder);
      const { status, stdout, stderr } = spawnSync(proxy.program, proxy.check(path), {
        env: PROXY_ENV,
        encoding: 'utf8',
      });
      const complaints = `${stdout}${stderr}`
        .split('\n')
        // A certificate that was made for the test has no server to ask about it. Caddy says at level info that its
        // nodes are away.
        .filter(
          (line) => /warn|error|alert/i.test(line) && !/no OCSP server specified|"level":"info"/.test(line),
        );
      expect([status, complaints]).toEqual([0, []]);
    });

    describe.skipIf(!canHaveNamespaces())('two nodes behind it', () => {
      let nodes: Proxied;
      beforeAll(() => {
        nodes = new Proxied(proxy.name);
      });
      afterAll(() => nodes.stop());

      test('an address that the client forges is not believed', async () => {
        const { done, faults } = await nodes.run('forged');
        expect(faults).toEqual([]);
        expect(done).toBeGreaterThan(40);
      });

      test.each(proxy.hasHttp2 ? [true, false] : [true])(
        'a body of 20 MB passes whole with TLS, from a slow client (HTTP/1: %s)',
        async (isHttp1) => {
          const { done, faults } = await nodes.run('bodies', { isHttp1, rate: '20M' });
          expect([done, faults]).toEqual([1, []]);
        },
      );

      test('bodies that are refused give their reason to every client', async () => {
        const { done, faults } = await nodes.run('refused');
        expect([done, faults]).toEqual([350, []]);
      });

      test('under more batches than it can pass on it has no answer of its own', async () => {
        const { done, faults } = await nodes.run('saturated');
        // Caddy resets a few connections of such a load, one to three in some thousand requests.
        const own = faults.filter((fault) => proxy.name !== 'Caddy' || !fault.endsWith('ECONNRESET'));
        expect(own).toEqual([]);
        expect(done).toBeGreaterThan(1000);
      });

      test('a rolling restart: nothing fails, and streams are closed with 1012', async () => {
        const { done, faults, notes } = await nodes.run('rolling', { pauseMs: 60 });
        expect(faults).toEqual([]);
        expect(done).toBe(2);
        const [requests, points, reconnections] = notes.map(Number);
        // Both streams were on some node that restarted.
        expect(reconnections).toBeGreaterThanOrEqual(2);
        expect(Math.min(requests!, points!)).toBeGreaterThan(0);
      });

      test('a 4xx that is an ordinary answer never counts as an attack', async () => {
        // HAProxy alone counts answers.
        const times = proxy.name === 'HAProxy' ? 230 : 10;
        const { done, faults } = await nodes.run('ordinary', { times });
        expect([done, faults]).toEqual([10 * times, []]);
      });

      test('a body of 10 MB in chunks passes whole without TLS', async () => {
        const { done, faults } = await nodes.run('bodies', { isTls: false, isChunked: true, megabytes: 10 });
        expect([done, faults]).toEqual([1, []]);
      });

      test('vehicles that report at an interval lose no report', async () => {
        const [vehicles, seconds] = [8, 60];
        const paced = { speedUp: 15, seconds, vehicles, ...(go === undefined ? {} : { go }) };
        const { done, faults } = await nodes.run('paced', paced);
        expect(faults).toEqual([]);
        const each = INTERVALS_SEC.map((interval) => reportsOf(interval, seconds));
        expect(done).toBe(vehicles * each.reduce((sum, reports) => sum + reports));
      });

      // Bounds of a hundredth, so that a flood of 500 is larger than all of them.
      describe.skipIf(proxy.firewall !== undefined && !hasProgram('nft'))('floods without keys', () => {
        const flood = { boundsDownBy: 100, peers: 500 };

        test('from one address holds its share', async () => {
          const { done, faults, notes } = await nodes.run('flood', { ...flood, addresses: 1, times: 20 });
          expect(faults).toEqual([]);
          expect(done).toBeGreaterThan(20);
          expect(Number(notes[0])).toBeLessThan(2 * BOUND_OF_ADDRESS);
        });

        test('from many addresses leaves room', async () => {
          // A firewall does not know who has a key: behind it new connections compete.
          const times = proxy.firewall === undefined ? 20 : 0;
          const { done, faults, notes } = await nodes.run('flood', { ...flood, addresses: 250, times });
          expect(faults).toEqual([]);
          expect(done).toBeGreaterThan(20);
          expect(Number(notes[0])).toBeLessThan(2 * BOUND_OF_ALL);
        });
      });

      test('answers whose nodes die do not look whole, and without nodes there is one of the service’s form', async () => {
        const { done, faults } = await nodes.run('killed', { isHttp1: !proxy.hasHttp2 });
        expect([done, faults]).toEqual([proxy.hasHttp2 ? 2 : 1, []]);
      });
    });

    test.skipIf(!canHaveNamespaces())(
      'kept connections that both nodes end at once cost no report',
      async () => {
        const { done, faults } = await runStale(proxy.name);
        expect([done, faults]).toEqual([300, []]);
      },
    );
  });
}
