// Secrets in files, as orchestrators mount them; no message and no shown value repeats one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig, readSettings, SETTING_NAMES } from '#dist/config/config.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-secrets-'));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const file = (text: string): string => {
  const path = join(root, `secret-${++count}`);
  writeFileSync(path, text);
  return path;
};
const read = (env: Record<string, string>) => readConfig(SETTING_NAMES, {}, env);

test('pepper and keys of files are read without the blanks at their ends; keys also one a line', () => {
  const env = {
    HEXCODES_KEY_PEPPER_FILE: file('a pepper of a file\n'),
    HEXCODES_API_KEYS_FILE: file('a:0123456789abcdef\r\nb:fedcba9876543210,c:abcdef0123456789\n'),
  };
  expect(read(env)).toMatchObject({
    keyPepperFile: 'a pepper of a file',
    apiKeysFile: [
      { name: 'a', secret: '0123456789abcdef' },
      { name: 'b', secret: 'fedcba9876543210' },
      { name: 'c', secret: 'abcdef0123456789' },
    ],
  });
  const { shown } = readSettings(SETTING_NAMES, {}, env);
  for (const secret of ['a pepper of a file', '0123456789abcdef']) expect(shown.join()).not.toContain(secret);
});

test.each([
  ['HEXCODES_KEY_PEPPER_FILE', undefined, /names a file that cannot be read/],
  ['HEXCODES_KEY_PEPPER_FILE', '\n', /names an empty file/],
  ['HEXCODES_KEY_PEPPER_FILE', 'short secret', /must have at least 16 characters/],
  ['HEXCODES_API_KEYS_FILE', 'a:short-secret', /entry 1 must be name:secret/],
  ['HEXCODES_API_KEYS_FILE', 'a:0123456789abcdef\na:fedcba9876543210', /has one name twice/],
])('%s of %j: %s', (variable, content, why) => {
  const path = content === undefined ? join(root, 'nothing') : file(content);
  const attempt = () => read({ [variable]: path });
  expect(attempt).toThrow(why);
  expect(attempt).not.toThrow(/short.secret|0123456789abcdef/);
});

test('a store is a PostgreSQL; its address is never repeated', () => {
  const store = 'postgresql://user:secret@host/db';
  expect(read({ HEXCODES_STORE: store }).store).toBe(store);
  const { shown } = readSettings(SETTING_NAMES, {}, { HEXCODES_STORE: store });
  expect(shown.join()).not.toContain('secret');
  expect(() => read({ HEXCODES_STORE: 'mysql://user:secret@host/db' })).toThrow(
    /^HEXCODES_STORE must begin with postgres:\/\/$/,
  );
});

test('a trusted proxy is an address or a network', () => {
  const config = read({ HEXCODES_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,::1' });
  expect(config.trustedProxies).toEqual(['10.0.0.0/8', '2001:db8::/32', '::1']);
  expect(() => read({ HEXCODES_TRUSTED_PROXIES: '10.0.0.0/8,proxy' })).toThrow('names "proxy"');
});
