// The proxy files that ship: each program accepts its file, a rolling restart of two nodes behind it loses nothing,
// bodies pass whole, refused ones give their reason, and nobody can forge an address. Each proxy is skipped by its name
// where it is not installed; all but the first need root, for a network of their own. The large twins are `npm run
// proof -- rolling` and `proxies`.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { hasProgram, installProxy, PROXIES, PROXY_ENV } from '../../support/deploy/proxies.js';
import { runProxied, runRolling, runStale } from '../../support/deploy/run-in-namespace.js';
import type { TaskOptions } from '../../support/deploy/task.js';
import { KEPT } from '../../support/deploy/task-flood.js';
import { INTERVALS_SEC, reportsOf } from '../../support/deploy/task-paced.js';
import { canHaveNamespaces } from '../../support/network-namespace.js';
import { sharedFolder } from '../../support/shared.js';

/** Connections without a key that the files allow one address, and all, a hundredth of them. */
const BOUND_OF_ADDRESS = 50;
const BOUND_OF_ALL = 150;

const folder = sharedFolder('proxies');

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

    test.skipIf(!canHaveNamespaces())('a rolling restart of two nodes: nothing fails', async () => {
      const { restarts, requests, points, reconnections, faults } = await runRolling(proxy.name, 1);
      expect(faults).toEqual([]);
      expect(restarts).toBe(2);
      // Both streams were on some node that restarted.
      expect(reconnections).toBeGreaterThanOrEqual(2);
      expect(Math.min(requests, points)).toBeGreaterThan(0);
    });

    test.skipIf(!canHaveNamespaces())('an address that the client forges is not believed', async () => {
      const { done, faults } = await runProxied(proxy.name, 'forged');
      expect(faults).toEqual([]);
      expect(done).toBeGreaterThan(40);
    });

    test.skipIf(!canHaveNamespaces())(
      'a 4xx that is an ordinary answer never counts as an attack',
      async () => {
        const { done, faults } = await runProxied(proxy.name, 'ordinary');
        expect(faults).toEqual([]);
        expect(done).toBeGreaterThanOrEqual(3000);
      },
    );

    test.skipIf(!canHaveNamespaces())('vehicles that report at an interval lose no report', async () => {
      const [vehicles, seconds] = [8, 60];
      const { done, faults } = await runProxied(proxy.name, 'paced', { speedUp: 15, seconds, vehicles });
      expect(faults).toEqual([]);
      const each = INTERVALS_SEC.map((interval) => reportsOf(interval, seconds));
      expect(done).toBe(vehicles * each.reduce((sum, reports) => sum + reports));
    });

    test.skipIf(!canHaveNamespaces())(
      'kept connections that both nodes end at once cost no report',
      async () => {
        const { done, faults } = await runStale(proxy.name);
        expect([done, faults]).toEqual([300, []]);
      },
    );

    // Bounds of a hundredth, so that a flood of a thousand is larger than all of them.
    const canFlood = canHaveNamespaces() && (proxy.firewall === undefined || hasProgram('nft'));
    test.skipIf(!canFlood)('a flood without keys from one address holds its share', async () => {
      const flood = { boundsDownBy: 100, peers: 1000, addresses: 1 };
      const { done, faults, notes } = await runProxied(proxy.name, 'flood', flood);
      expect(faults).toEqual([]);
      expect(done).toBeGreaterThan(20);
      expect(Number(notes[0])).toBeLessThan(2 * BOUND_OF_ADDRESS);
    });

    test.skipIf(!canFlood)('a flood without keys from many addresses leaves room', async () => {
      const flood = { boundsDownBy: 100, peers: 1000, addresses: 250 };
      const { done, faults, notes } = await runProxied(proxy.name, 'flood', flood);
      // A firewall does not know who has a key: behind it new connections compete.
      expect(faults.filter((fault) => proxy.firewall === undefined || fault.includes(KEPT))).toEqual([]);
      expect(done).toBeGreaterThan(20);
      expect(Number(notes[0])).toBeLessThan(2 * BOUND_OF_ALL);
    });

    test.skipIf(!canHaveNamespaces()).each<[string, TaskOptions]>([
      ['with TLS', { times: 3 }],
      ['with TLS and HTTP/1, from a slow client', { times: 1, isHttp1: true, rate: '25M' }],
      ['without TLS', { times: 2, isTls: false }],
      ['without TLS, in chunks', { times: 2, isTls: false, isChunked: true }],
    ])('a body of 60 MB passes whole %s', async (_, options) => {
      const { done, faults } = await runProxied(proxy.name, 'bodies', { megabytes: 60, ...options });
      expect([done, faults]).toEqual([options.times, []]);
    });

    test.skipIf(!canHaveNamespaces())('streams of nodes that stop are closed with 1012', async () => {
      const { done, faults } = await runProxied(proxy.name, 'streams');
      expect([done, faults]).toEqual([20, []]);
    });

    test.skipIf(!canHaveNamespaces())('an answer whose node dies does not look whole', async () => {
      for (const isHttp1 of [true, false]) {
        const { done, faults } = await runProxied(proxy.name, 'killed', { isHttp1 });
        expect([done, faults]).toEqual([1, []]);
      }
    });

    test.skipIf(!canHaveNamespaces())(
      'bodies that are refused give their reason to every client',
      async () => {
        const { done, faults } = await runProxied(proxy.name, 'refused', { times: 1, isBulkOnly: true });
        expect([done, faults]).toEqual([351, []]);
      },
    );

    test.skipIf(!canHaveNamespaces())(
      'under more batches than it can pass on it has no answer of its own',
      async () => {
        const { done, faults } = await runProxied(proxy.name, 'saturated', { seconds: 8 });
        // Caddy resets a few connections of such a load, one to three in some thousand requests.
        const own = faults.filter((fault) => proxy.name !== 'Caddy' || !fault.endsWith('ECONNRESET'));
        expect(own).toEqual([]);
        expect(done).toBeGreaterThan(0);
      },
    );
  });
}
