// `hexcodes serve --check-config` and `--print-config`, and the configuration file for other commands.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

test('--check-config: 0 where it can be used, 2 with every fault; no file is made', async () => {
  folder.write('good.env', 'HEXCODES_PORT=8081\n');
  const good = await folder.run(['serve', '--check-config', '--config', 'good.env']);
  expect([good.code, good.stdout, good.stderr]).toEqual([0, '', 'the configuration can be used\n']);
  folder.write('bad.env', 'HEXCODES_PORT=x\nHEXCODES_KEY_PEPPER=short\nHEXCODES_PROT=1\n');
  const bad = await folder.run(['serve', '--check-config', '--config', 'bad.env']);
  expect(bad.code).toBe(2);
  expect(bad.stderr).toBe(
    'hexcodes: bad.env:1 HEXCODES_PORT must be an integer from 0 to 65535\n' +
      'hexcodes: bad.env:2 HEXCODES_KEY_PEPPER must have at least 16 characters\n' +
      'hexcodes: bad.env:3 HEXCODES_PROT is no setting; did you mean HEXCODES_PORT?\n',
  );
  const index = await folder.run(['serve', '--check-config', '--index', 'good.env']);
  expect(index.code).toBe(2);
  expect(index.stderr).toContain('index');
  expect(folder.names()).toEqual(['bad.env', 'good.env']);
});

test('--print-config: every setting with its source, and no secret', async () => {
  const env = { HEXCODES_KEY_PEPPER: 'pepper_0123456789', HEXCODES_CONFIG: 'good.env' };
  const { code, stdout, stderr } = await folder.run(['serve', '--print-config', '--drain-ms', '5'], { env });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^HEXCODES_PORT=8081 +# good\.env:1$/m);
  expect(stdout).toMatch(/^HEXCODES_DRAIN_MS=5 +# --drain-ms$/m);
  expect(stdout).toMatch(/^HEXCODES_KEY_PEPPER=\*\*\* +# environment$/m);
  expect(stdout).toMatch(/^HEXCODES_GRACE_MS=10000 +# default$/m);
  expect(stdout).not.toContain('pepper_');
});

test('--max-past-stop is read', async () => {
  const { stderr } = await folder.run(['serve', '--check-config', '--max-past-stop', '5']);
  expect(stderr).toBe('hexcodes: --max-past-stop must be an integer from 1048576 to 999999999\n');
});

test('keys take the data folder from the file, and name its faults', async () => {
  folder.write('keys.env', `HEXCODES_DATA_DIR=${folder.file('var')}\n`);
  expect((await folder.run(['keys', 'init', '--config', 'keys.env'])).code).toBe(0);
  expect(readFileSync(folder.file('var/keys.db')).length).toBeGreaterThan(0);
  writeFileSync(folder.file('keys.env'), 'HEXCODES_DATADIR=x\n');
  const { code, stderr } = await folder.run(['keys', 'list', '--config', 'keys.env']);
  expect([code, stderr]).toEqual([
    2,
    'hexcodes: keys.env:1 HEXCODES_DATADIR is no setting; did you mean HEXCODES_DATA_DIR?\n',
  ]);
});
