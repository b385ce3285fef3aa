// The proxy files that ship: each program accepts its file, and a rolling restart of two nodes behind it loses nothing. Each
// proxy is skipped by its name where it is not installed; restarts need root, for a network of their own. The large twin is
// `npm run proof -- rolling`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { hasProgram, installProxy, PROXIES, PROXY_ENV } from '../../support/deploy/proxies.js';
import { runRolling } from '../../support/deploy/run-rolling.js';
import { canHaveNamespaces } from '../../support/network-namespace.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-proxies-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
        // A certificate that was made for the test has no server to ask about it. Caddy says at level info that its nodes are away.
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
  });
}
