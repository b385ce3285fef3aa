// `hexcodes keys` beyond making and revoking: what a key may do, rotation, files of keys.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { becomes } from '../../support/http-calls.js';
import { startServer } from '../../support/server.js';
import { ownFolder } from '../../support/shared.js';

const root = ownFolder('keys');
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(root, 'data-'));
});
const file = (name: string) => join(dir, name);

function keys(args: string[], dataDir = dir, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['dist/cli/main.js', 'keys', ...args, '--data-dir', dataDir],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  );
  return { code: status, stdout, stderr };
}

function made(...args: string[]) {
  const { stdout, stderr } = keys(['create', ...args, '--show']);
  return { text: stdout.trim(), id: /made key (\w+)/.exec(stderr)?.[1] as string };
}

const shown = (id: string, dataDir = dir) =>
  JSON.parse(keys(['show', id, '--json'], dataDir).stdout) as Record<string, unknown>;

async function statusOf(text: string, dataDir = dir, env: Record<string, string> = {}): Promise<number> {
  const server = await startServer({ dataDir, ...env });
  const { status } = await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': text } });
  await server.stop();
  return status;
}

test('a key is made by its flags, and only given flags change it', () => {
  keys(['init']);
  const flags = ['--scope', 'decode,encode', '--scope', 'admin', '--expires', '2099-01-31'];
  const bounds = ['--origin', 'https://a.vn', '--cidr', '10.0.0.0/8,2001:db8::/32'];
  const limits = ['--points-per-second', '0.5', '--points-per-day', '1000', '--requests-burst', 'none'];
  const { id, text } = made('fleet', ...flags, ...bounds, ...limits);
  expect(shown(id)).toEqual({
    id,
    name: 'fleet',
    state: 'active',
    scopes: ['encode', 'decode', 'admin'],
    created: expect.stringMatching(/^20/),
    expires: '2099-01-31T00:00:00.000Z',
    last_used: null,
    origins: ['https://a.vn'],
    cidrs: ['10.0.0.0/8', '2001:db8::/32'],
    limits: { points_per_second: 0.5, requests_burst: 0, points_per_day: 1000 },
    generation: 1,
    overlap_until: null,
  });
  const changes = ['--name', 'other', '--expires', 'never', '--origin', 'any', '--points-per-day', 'default'];
  expect(keys(['set', id, ...changes])).toMatchObject({ code: 0, stderr: `key ${id} is changed\n` });
  expect(shown(id)).toMatchObject({
    name: 'other',
    expires: null,
    origins: [],
    cidrs: ['10.0.0.0/8', '2001:db8::/32'],
    limits: { points_per_second: 0.5, requests_burst: 0 },
  });
  const { stdout } = keys(['show', id]);
  expect(stdout).toMatch(/^name +other\nstate +active\n/);
  expect(stdout + keys(['list', '--json']).stdout).not.toContain(text);
});

test('flags that are wrong are refused, and no key is made', () => {
  keys(['init']);
  for (const flags of [
    ['--scope', 'all'],
    ['--expires', 'tomorrow'],
    ['--points-per-day', 'many'],
    ['--cidr', 'x', '--origin', 'y'],
  ])
    expect(keys(['create', 'x', '--show', ...flags]), flags.join(' ')).toMatchObject({ code: 1, stdout: '' });
  expect(keys(['list']).stdout).toBe('');
});

test('rotate shows a new secret for the id; the key must exist and not be revoked', async () => {
  keys(['init']);
  const { id, text } = made('fleet');
  const rotated = keys(['rotate', id, '--overlap', '1h', '--show']);
  const next = rotated.stdout.trim();
  expect(next).toMatch(/^hxk_[\w-]{43}$/);
  expect(rotated.stderr).toMatch(/the one before ends 20/);
  expect(shown(id)).toMatchObject({ generation: 2, overlap_until: expect.stringMatching(/^20/) });
  expect([await statusOf(text), await statusOf(next)]).toEqual([200, 200]);
  expect(keys(['rotate', id, '--overlap', '0', '--out', file('new')]).stderr).toContain('ends now');
  expect([await statusOf(text), await statusOf(next)]).toEqual([401, 401]);
  expect(await statusOf(readFileSync(file('new'), 'utf8').trim())).toBe(200);
  expect(keys(['rotate', id, '--overlap', 'long', '--show']).code).toBe(2);
  // A store is read again whatever it has taken: in ISO 8601 years beyond 9999 have a sign.
  expect(keys(['rotate', id, '--overlap', '999999w', '--show']).code).toBe(2);
  expect(keys(['rotate', id, '--overlap', '400000w', '--out', file('old')]).code).toBe(0);
  expect(keys(['backup', file('backup')]).code).toBe(0);
  expect(keys(['restore', file('backup'), '--force']).code).toBe(0);
  keys(['revoke', id]);
  for (const refused of [id, 'nobody']) expect(keys(['rotate', refused, '--show']).code).not.toBe(0);
});

test('a key can be disabled and revoked although the pepper is lost', () => {
  keys(['init']);
  const { id } = made('fleet');
  rmSync(file('pepper'));
  expect(keys(['disable', id]).code).toBe(0);
  expect(keys(['revoke', id]).code).toBe(0);
  expect(keys(['create', 'x', '--show']).code).toBe(1);
});

describe('files of keys', () => {
  test('export and import, by digests, under one pepper', async () => {
    keys(['init']);
    const { id, text } = made('fleet', '--scope', 'encode');
    expect(keys(['export', file('keys.json')]).code).toBe(0);
    expect(statSync(file('keys.json')).mode & 0o777).toBe(0o600);
    const exported = readFileSync(file('keys.json'), 'utf8');
    expect(exported).not.toContain(text);
    expect(exported).not.toContain(readFileSync(file('pepper'), 'utf8').trim());
    expect(keys(['export', '-']).stdout).toBe(exported);
    expect(keys(['export', file('keys.json')]).code).toBe(4);

    const other = mkdtempSync(join(root, 'other-'));
    keys(['init'], other);
    expect(keys(['import', file('keys.json')], other).code).not.toBe(0);
    copyFileSync(file('pepper'), join(other, 'pepper'));
    expect(keys(['import', file('keys.json')], other).code).toBe(0);
    expect(shown(id, other)).toEqual(shown(id));
    expect(await statusOf(text, other)).toBe(200);
    expect(keys(['import', file('keys.json')], other).code).not.toBe(0);
    keys(['revoke', id], other);
    expect(keys(['import', file('keys.json'), '--replace'], other).code).toBe(0);
    expect(shown(id, other).state).toBe('revoked');
  });

  test('backup and restore, with the pepper; never over keys without --force', async () => {
    keys(['init']);
    const { id, text } = made('fleet');
    keys(['backup', file('backup')]);
    expect(statSync(file('backup')).mode & 0o777).toBe(0o600);
    expect(readFileSync(file('backup'), 'utf8')).not.toContain(text);
    const late = made('late');
    const refused = keys(['restore', file('backup')]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--force')]);

    const server = await startServer({ dataDir: dir });
    await becomes(server, late.text, 200);
    expect(keys(['restore', file('backup'), '--force']).code).toBe(0);
    await becomes(server, late.text, 401);
    await becomes(server, text, 200);
    await server.stop();

    const fresh = join(root, 'fresh');
    expect(keys(['restore', file('backup')], fresh).code).toBe(0);
    expect(readFileSync(join(fresh, 'pepper'), 'utf8')).toBe(readFileSync(file('pepper'), 'utf8'));
    expect(statSync(fresh).mode & 0o777).toBe(0o700);
    expect(await statusOf(text, fresh)).toBe(200);
    expect(shown(id, fresh)).toMatchObject({ id, name: 'fleet' });
  });

  test('a damaged store is set aside by --force only', async () => {
    keys(['init']);
    const { text } = made('fleet');
    keys(['backup', file('backup')]);
    writeFileSync(file('keys.db'), 'garbage'.repeat(1000));
    expect(keys(['restore', file('backup')]).code).not.toBe(0);
    expect(keys(['restore', file('backup'), '--force']).code).toBe(0);
    expect(readdirSync(dir)).toContain('keys.db.damaged');
    expect(await statusOf(text)).toBe(200);
  });

  test('with a pepper of the environment a backup goes back only under the same', () => {
    const env = { HEXCODES_KEY_PEPPER: 'short and secret' };
    keys(['init'], dir, env);
    keys(['create', 'x', '--show'], dir, env);
    keys(['backup', file('backup')], dir, env);
    const fresh = mkdtempSync(join(root, 'env-'));
    expect(keys(['restore', file('backup')], fresh).code).not.toBe(0);
    const other = { HEXCODES_KEY_PEPPER: 'another pepper, quite' };
    expect(keys(['restore', file('backup')], fresh, other).code).not.toBe(0);
    expect(keys(['list'], fresh).stdout).toBe('');
    expect(keys(['restore', file('backup')], fresh, env).code).toBe(0);
    expect(readdirSync(fresh)).not.toContain('pepper');
  });

  test('a restore from anything but a backup is refused and changes nothing', () => {
    keys(['init']);
    made('fleet');
    const whole = keys(['backup', '-']).stdout;
    const content = JSON.parse(whole) as { keys: unknown[] };
    const store = readFileSync(file('keys.db'));
    for (const [name, text] of Object.entries({
      nothing: undefined,
      'no JSON': 'hxk_0123456789',
      'another file': '{}',
      'a later version': '{"format":"hexcodes-keys","version":3}',
      'an export': keys(['export', '-']).stdout,
      'a wrong digest': whole.replace(/"digest": "[0-9a-f]/, '"digest": "X'),
      'a wrong scope': whole.replace('"encode"', '"all"'),
      'two of one id': JSON.stringify({ ...content, keys: [...content.keys, ...content.keys] }),
    })) {
      if (text !== undefined) writeFileSync(file('in'), text);
      expect(keys(['restore', file('in'), '--force']).code, name).not.toBe(0);
      expect(readFileSync(file('keys.db')).equals(store), name).toBe(true);
    }
  });
});
