// The alert rules and their tests, by Prometheus' own tool, where that is installed (Debian: `prometheus`).
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const run = (...args: string[]): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    cwd: 'deploy/prometheus',
    encoding: 'utf8',
  });
  return { status, text: `${stdout}${stderr}` };
};
const isInstalled = run('--version').status === 0;
const named = isInstalled ? '' : ' (skipped: promtool is not installed)';

test.skipIf(!isInstalled)(`the rules are valid${named}`, () => {
  const { status, text } = run('check', 'rules', 'alerts.yml');
  expect(text).toMatch(/SUCCESS: \d+ rules found/);
  expect(status).toBe(0);
});

test.skipIf(!isInstalled)(
  `each alert is raised where it should be, and not where it should not${named}`,
  () => {
    const { status, text } = run('test', 'rules', 'alerts.test.yml');
    expect(text).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);
