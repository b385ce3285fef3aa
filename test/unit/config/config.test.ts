// Settings from flags, environment and file: which of them holds, what is a fault, and what is shown.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  ConfigError,
  flaglessOf,
  flagsOf,
  readConfig,
  readSettings,
  SETTING_NAMES,
} from '#dist/config/config.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(...lines: string[]): string {
  const path = join(folder, `${++files}.env`);
  writeFileSync(path, lines.join('\n'));
  return path;
}

function faultsOf(flags: Record<string, unknown>, env: Record<string, string> = {}): readonly string[] {
  try {
    readConfig(SETTING_NAMES, flags, env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

test('a flag goes before its variable, the variable before the file', () => {
  const config = file('HEXCODES_PORT=1', 'HEXCODES_HOST=1.1.1.1', 'HEXCODES_GRACE_MS=7');
  const env = { HEXCODES_PORT: '2', HEXCODES_HOST: '2.2.2.2' };
  expect(readConfig(SETTING_NAMES, { config, port: '3' }, env)).toMatchObject({
    port: 3,
    host: '2.2.2.2',
    graceMs: 7,
    adminPort: 9090,
  });
  expect(readConfig(SETTING_NAMES, {}, { HEXCODES_CONFIG: config }).port).toBe(1);
});

test('every flag reaches its setting under the name that commander gives it', () => {
  const texts: Record<string, string> = {
    ...{ '<number>': '7', '<milliseconds>': '700', '<bytes>': '9000000', '<0..1>': '0.5' },
    ...{ '<networks>': '10.0.0.0/8', '<url>': 'http://127.0.0.1:4318', '<zone>': 'Asia/Ho_Chi_Minh' },
    ...{ '<names>': 'metrics.example.com', '<open|closed>': 'closed', '<address>': 'http://127.0.0.1:4318' },
  };
  for (const { flags } of flagsOf(SETTING_NAMES)) {
    const [flag = '', argument = ''] = flags.split(' ');
    if (['--config', '--basemap', '--index', '--previous-index', '--reach', '--log-level'].includes(flag))
      continue;
    const attribute = flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const value = argument === '' ? true : (texts[argument] ?? 'some text');
    const { shown } = readSettings(SETTING_NAMES, { [attribute]: value }, {});
    expect(shown.filter((line) => line.endsWith(`# ${flag}`))).toHaveLength(1);
  }
});

test('the variable of a standard gives a setting where nothing else does', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318/' };
  expect(readConfig(SETTING_NAMES, {}, env).otlpEndpoint).toBe('http://a:4318');
  const own = { ...env, HEXCODES_OTLP_ENDPOINT: 'http://b:4318' };
  expect(readConfig(SETTING_NAMES, {}, own).otlpEndpoint).toBe('http://b:4318');
  const config = file('HEXCODES_OTLP_ENDPOINT=http://c:4318');
  expect(readConfig(SETTING_NAMES, { config }, env).otlpEndpoint).toBe('http://c:4318');
  expect(faultsOf({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'a' })).toEqual([
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an address of http or https without user, query and fragment',
  ]);
});

test('PORT is the port where nothing of ours names one', () => {
  expect(readConfig(SETTING_NAMES, {}, { PORT: '3000' }).port).toBe(3000);
  expect(readConfig(SETTING_NAMES, {}, { PORT: '3000', HEXCODES_PORT: '4000' }).port).toBe(4000);
  expect(faultsOf({}, { PORT: 'x' })[0]).toMatch(/^PORT must be/);
});

test('settings of observation that cannot be are named', () => {
  const env = {
    HEXCODES_TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/33',
    HEXCODES_TRACE_RATIO: '1.1',
    HEXCODES_LOG_POSITIONS: 'maybe',
    HEXCODES_OTLP_ENDPOINT: 'http://user:secret@a:4318',
  };
  const faults = faultsOf({}, env);
  expect(faults).toHaveLength(4);
  expect(faults.join()).toContain('"10.0.0.0/33", which is no address or network');
  expect(faults.join()).not.toContain('secret');
});

test('lines of the file: comments, blanks, quotes, a byte order mark, CR LF', () => {
  const config = file(
    '\uFEFF# of the service\r',
    '',
    '  HEXCODES_HOST = "::1"\r',
    "HEXCODES_LOG_LEVEL='warn'",
    'HEXCODES_DATA_DIR=/srv/a = b # c',
  );
  expect(readConfig(SETTING_NAMES, { config }, {})).toMatchObject({
    host: '::1',
    logLevel: 'warn',
    dataDir: '/srv/a = b # c',
  });
});

test('every fault is named at once, each with its place, and no value of a line that is none', () => {
  const config = file(
    'HEXCODES_PORT=x',
    'geheim',
    'HEXCODES_PROT=1',
    'HEXCODES_PORT=2',
    'HEXCODES_CONFIG=a',
    'OTHER=1',
  );
  expect(
    faultsOf({ config, graceMs: '-1' }, { HEXCODES_ADMIN_PROT: '1', HEXCODES_WHATEVER: 'x', OTHER: '1' }),
  ).toEqual([
    `${config}:2 is neither HEXCODES_NAME=value nor a comment`,
    `${config}:4 HEXCODES_PORT stands in line 1 already`,
    `${config}:1 HEXCODES_PORT must be an integer from 0 to 65535`,
    '--grace-ms must be an integer from 0 to 600000',
    'HEXCODES_ADMIN_PROT is no setting; did you mean HEXCODES_ADMIN_PORT?',
    'HEXCODES_WHATEVER is no setting',
    `${config}:3 HEXCODES_PROT is no setting; did you mean HEXCODES_PORT?`,
    `${config}:5 HEXCODES_CONFIG is no setting`,
    `${config}:6 OTHER is no setting`,
  ]);
  expect(faultsOf({ config: join(folder, 'none') })).toEqual([
    `the configuration file ${join(folder, 'none')} is not there`,
  ]);
  expect(faultsOf({ config: folder })[0]).toBe(`the configuration file ${folder} is a folder`);
});

test('variables that Kubernetes sets for a Service of the name are no faults, but for a port of another meaning', () => {
  const env = {
    HEXCODES_SERVICE_HOST: '10.0.0.1',
    HEXCODES_SERVICE_PORT_HTTP: '80',
    HEXCODES_PORT_80_TCP_ADDR: '10.0.0.1',
    HEXCODES_EXTRA_PORT: 'tcp://10.0.0.2:80',
  };
  expect(faultsOf({}, env)).toEqual([]);
  expect(faultsOf({}, { ...env, HEXCODES_PORT: 'tcp://10.0.0.1:80' })).toEqual([
    "HEXCODES_PORT must be an integer from 0 to 65535; this one is Kubernetes' own: set enableServiceLinks: false in the pod",
  ]);
  expect(faultsOf({}, { HEXCODES_EXTRA_PORT: '80' })).toEqual(['HEXCODES_EXTRA_PORT is no setting']);
});

test('settings are shown with their sources, secrets never', () => {
  const config = file('HEXCODES_GRACE_MS=5', 'HEXCODES_KEY_PEPPER=0123456789abcdef');
  const env = { HEXCODES_HOST: '::', HEXCODES_API_KEYS: 'a:0123456789abcdefghi' };
  const lines = readSettings(SETTING_NAMES, { config, port: '1', ownPorts: true }, env).shown;
  const shown = Object.fromEntries(lines.map((line) => line.split(/ +# /) as [string, string]));
  expect(shown).toMatchObject({
    'HEXCODES_PORT=1': '--port',
    'HEXCODES_HOST=::': 'environment',
    'HEXCODES_GRACE_MS=5': `${config}:1`,
    'HEXCODES_OWN_PORTS=true': '--own-ports',
    'HEXCODES_ADMIN_PORT=9090': 'default',
    'HEXCODES_INDEX=': 'default',
    'HEXCODES_KEY_PEPPER=***': `${config}:2`,
    'HEXCODES_API_KEYS=***': 'environment',
  });
  expect(lines).toHaveLength(SETTING_NAMES.length);
  expect(lines.join()).not.toMatch(/0123456789/);
});

test('a secret has no flag', () => {
  const secrets = flaglessOf(SETTING_NAMES).filter(({ isSecret }) => isSecret);
  expect(secrets.map(({ variable }) => variable)).toEqual(
    expect.arrayContaining(['HEXCODES_KEY_PEPPER', 'HEXCODES_API_KEYS']),
  );
});
