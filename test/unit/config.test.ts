// Settings: where they come from, and what they may be.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  BUS_NAMES,
  ConfigError,
  flaglessOf,
  flagsOf,
  readConfig,
  readSettings,
  SETTING_NAMES,
} from '#config';
import { ownFolder } from '../support/shared.js';

// Settings from flags, environment and file: which of them holds, what is a fault, and what is shown.
describe('sources', () => {
  const folder = ownFolder('config');

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

  /** The subject of each fault: a flag, a variable, or a line of a file. */
  const subjectsOf = (...given: Parameters<typeof faultsOf>): string[] =>
    faultsOf(...given).map((fault) => fault.split(' ', 1)[0] as string);

  test('no two of service, processes with ports of their own, and admin port have one port', () => {
    const isShared = (port: number, adminPort: number, more: Record<string, unknown> = {}): boolean =>
      faultsOf({ port: String(port), adminPort: String(adminPort), ...more }).some((each) =>
        each.includes('need two ports'),
      );
    expect([isShared(8080, 8080), isShared(8080, 8081), isShared(0, 0)]).toEqual([true, false, false]);
    expect(isShared(8080, 8080, { host: '127.0.0.1', adminHost: '127.0.0.2' })).toBe(false);
    for (const every of ['0.0.0.0', '::'])
      expect(isShared(8080, 8080, { host: every, adminHost: '127.0.0.2' })).toBe(true);
    const own = (adminPort: number): boolean => isShared(8080, adminPort, { processes: '3', ownPorts: true });
    expect([8079, 8080, 8081, 8083, 8084].map(own)).toEqual([false, true, true, true, false]);
    expect(isShared(8080, 8081, { processes: '3' })).toBe(false);
    const isBeyond = (port: string): boolean =>
      faultsOf({ port, processes: '2', ownPorts: true }).some((each) => each.includes('65535 is the last'));
    expect(['65533', '65534', '65535'].map(isBeyond)).toEqual([false, true, true]);
  });

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
      ...{
        '<names>': 'metrics.example.com',
        '<open|closed>': 'closed',
        '<address>': 'http://127.0.0.1:4318',
      },
    };
    for (const { flags } of flagsOf(SETTING_NAMES)) {
      const [flag = '', argument = ''] = flags.split(' ');
      if (['--config', '--basemap', '--index', '--previous-index', '--reach', '--log-level'].includes(flag))
        continue;
      const attribute = flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      const text = flag.endsWith('host') ? '::1' : (texts[argument] ?? 'some text');
      const value = argument === '' ? true : text;
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
    expect(subjectsOf({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'a' })).toEqual(['OTEL_EXPORTER_OTLP_ENDPOINT']);
  });

  test('PORT is the port where nothing of ours names one', () => {
    expect(readConfig(SETTING_NAMES, {}, { PORT: '3000' }).port).toBe(3000);
    expect(readConfig(SETTING_NAMES, {}, { PORT: '3000', HEXCODES_PORT: '4000' }).port).toBe(4000);
    expect(subjectsOf({}, { PORT: 'x' })).toEqual(['PORT']);
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
    expect(faults.join()).toContain('"10.0.0.0/33", which is not an address or network');
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
      subjectsOf({ config, graceMs: '-1' }, { HEXCODES_ADMIN_PROT: '1', HEXCODES_WHATEVER: 'x', OTHER: '1' }),
    ).toEqual([
      ...[
        `${config}:2`,
        `${config}:4`,
        `${config}:1`,
        '--grace-ms',
        'HEXCODES_ADMIN_PROT',
        'HEXCODES_WHATEVER',
      ],
      ...[`${config}:3`, `${config}:5`, `${config}:6`],
    ]);
    for (const path of [join(folder, 'none'), folder])
      expect(faultsOf({ config: path })).toEqual([expect.stringContaining(path)]);
  });

  test('variables that Kubernetes sets for a Service of this name are no faults, except a port with another meaning', () => {
    const env = {
      HEXCODES_SERVICE_HOST: '10.0.0.1',
      HEXCODES_SERVICE_PORT_HTTP: '80',
      HEXCODES_PORT_80_TCP_ADDR: '10.0.0.1',
      HEXCODES_EXTRA_PORT: 'tcp://10.0.0.2:80',
    };
    expect(faultsOf({}, env)).toEqual([]);
    expect(faultsOf({}, { ...env, HEXCODES_PORT: 'tcp://10.0.0.1:80' })).toEqual([
      expect.stringMatching(/^HEXCODES_PORT .*enableServiceLinks/),
    ]);
    expect(subjectsOf({}, { HEXCODES_EXTRA_PORT: '80' })).toEqual(['HEXCODES_EXTRA_PORT']);
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

  test('every setting is read outside src/config/', () => {
    const texts = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => /^(?!config\/|.*\bdist\/).*\.ts$/.test(path))
      .map((path) => readFileSync(join('src', path), 'utf8'));
    const words = new Set(texts.filter((text) => /config/i.test(text)).flatMap((text) => text.match(/\w+/g)));
    const names = [...SETTING_NAMES, ...BUS_NAMES, 'readNowhere'];
    expect(names.filter((name) => !words.has(name))).toEqual(['readNowhere']);
  });

  test('a secret has no flag', () => {
    const secrets = flaglessOf(SETTING_NAMES).filter(({ isSecret }) => isSecret);
    expect(secrets.map(({ variable }) => variable)).toEqual(
      expect.arrayContaining(['HEXCODES_KEY_PEPPER', 'HEXCODES_API_KEYS']),
    );
  });
});

// Secrets in files, as orchestrators mount them; no message and no shown value repeats one.
describe('files of secrets', () => {
  const root = ownFolder('secrets');
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
    for (const secret of ['a pepper of a file', '0123456789abcdef'])
      expect(shown.join()).not.toContain(secret);
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

  test.each([
    'postgres://',
    'postgres:///db',
    'postgres://user@/db?host=/run/postgresql',
    'postgres://user:se cr%23et@host:5432/db?sslmode=verify-full',
    'postgres://user:secret@[::1]:5432/db',
    'postgresql://user@%2Frun%2Fpostgresql/db',
  ])('a store at %s is read as pg reads it', (store) => {
    expect(read({ HEXCODES_STORE: store }).store).toBe(store);
    expect(() => new pg.Client({ connectionString: store })).not.toThrow();
  });

  test.each([
    ['postgres://user:secret#1@host/db', 'must be an address as'],
    ['postgres://user:secret?1@host/db', 'must be an address as'],
    ['postgres://user:secret/1@host/db', 'must be an address as'],
    ['postgres://user:12/secret@host/db', 'must be an address as'],
    ['postgres://user:secret@host:x/db', 'must be an address as'],
    ['postgres://user:secret@host:0/db', 'must be an address as'],
    ['postgres://user:secret@host:65536/db', 'must be an address as'],
    ['postgres://user:secret@host/db#x', 'must be an address as'],
    ...['sslrootcert', 'sslcert', 'sslkey'].map((name) => [
      `postgres://user:secret@host/db?${name}=/no/such/file`,
      `names a file that cannot be read, as ${name}: /no/such/file`,
    ]),
  ])('a store at %s is refused before a start, without its password', (store, why) => {
    const attempt = () => read({ HEXCODES_STORE: store });
    expect(attempt).toThrow(`HEXCODES_STORE ${why}`);
    expect(attempt).not.toThrow(/secret/);
  });

  test('a trusted proxy is an address or a network', () => {
    const config = read({ HEXCODES_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,::1' });
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '2001:db8::/32', '::1']);
    expect(() => read({ HEXCODES_TRUSTED_PROXIES: '10.0.0.0/8,proxy' })).toThrow('names "proxy"');
  });
});

// Addresses of sinks, as the settings have them.
describe('Traccar', () => {
  const folder = ownFolder('sink');

  const sinkOf = (text: string) => readConfig(SETTING_NAMES, { traccarSink: text }, {}).traccarSink;
  function faultOf(text: string): string {
    try {
      sinkOf(text);
    } catch (error) {
      if (error instanceof ConfigError) return error.faults.join('\n');
    }
    return '';
  }

  test('files by their endings, URLs, subjects of NATS', () => {
    expect(readConfig(SETTING_NAMES, {}, {}).traccarSink).toBeUndefined();
    const csv = { kind: 'file', path: join(folder, 'a.csv'), format: 'csv' };
    for (const text of [`file:${folder}/a.csv`, `file://${folder}/a.csv`]) expect(sinkOf(text)).toEqual(csv);
    expect(sinkOf(`file:${folder}/a.ndjson`)).toMatchObject({ format: 'ndjson' });
    expect(sinkOf('file:a.csv')).toMatchObject({ path: join(process.cwd(), 'a.csv') });
    const url = 'https://example.com/in?token=x';
    for (const each of [url, 'http://a:80/', 'http://a:8080/'])
      expect(sinkOf(each)).toEqual({ kind: 'http', url: each });
    expect(sinkOf('nats://10.0.0.7:4222/fleet.positions')).toEqual({
      kind: 'nats',
      server: 'nats://10.0.0.7:4222',
      subject: 'fleet.positions',
    });
    expect(sinkOf('postgres://fleet@10.0.0.7:5433/gps?sslmode=require&table=fleet.positions')).toEqual({
      ...{ kind: 'postgres', table: 'fleet.positions' },
      url: 'postgres://fleet@10.0.0.7:5433/gps?sslmode=require',
    });
    expect(sinkOf('postgresql://fleet@db/gps')).toMatchObject({ table: 'hexcodes_positions' });
  });

  test.each([
    ['positions.csv', 'must be http(s)://'],
    ['ftp://a/b', 'must be http(s)://'],
    ['file:a.txt', 'ends neither in .csv nor in .ndjson'],
    ['postgres://me@host/db?sslrootcert=/no/such/file', 'that cannot be read, as sslrootcert'],
    ['file:/no/such/folder/a.csv', 'in a folder that cannot be written: /no/such/folder'],
    ['https://me:secret@example.com/', 'must not hold a user or password'],
    ['nats://me:secret@host/a', 'must not hold a user or password'],
    ['postgres://me:secret@host/db', 'must not hold a password'],
    ['postgres://me@host/db?password=secret@', 'must not hold a password'],
    ['postgres://host/db', 'must be http(s)://'],
    ['postgres://me@host', 'must be http(s)://'],
    ['postgres://me@host/db?table=a;b', 'must have a table'],
    ['postgres://me@host:0/db', 'must be an address as'],
    ['nats://host:0/fleet', 'must be http(s)://'],
    ['https://host:0/', 'must be http(s)://'],
    ['http://host:6000/', 'must have another port than 6000'],
    ['https://host:1/', 'must have another port than 1,'],
    ['nats://host:4222', 'must end with a subject'],
    ['nats://host:4222/fleet.*', 'must end with a subject'],
    ['', 'must be http(s)://'],
  ])('%j is refused, without what is secret in it', (text, words) => {
    expect(faultOf(text)).toContain(`--traccar-sink ${words.startsWith('must') ? '' : 'names a file '}`);
    expect(faultOf(text)).toContain(words);
    expect(faultOf(text)).not.toContain('secret@');
  });

  test('the header of an http sink is a secret, and one line', () => {
    const read = (text: string) => readSettings(SETTING_NAMES, {}, { HEXCODES_TRACCAR_SINK_HEADER: text });
    const { config, shown } = read('Authorization: Bearer abc:def ');
    expect(config.traccarSinkHeader).toEqual(['Authorization', 'Bearer abc:def']);
    expect(shown.join()).toContain('HEXCODES_TRACCAR_SINK_HEADER=***');
    for (const text of ['abc', 'a b: c', 'a: b\nc: d'])
      expect(() => read(text)).toThrow('must be a header line');
    for (const name of ['Host', 'content-type', 'Content-Length', 'Content-Encoding', 'Transfer-Encoding'])
      expect(() => read(`${name}: x`)).toThrow(`cannot be ${name}, which`);
    for (const name of ['Connection', 'Keep-Alive', 'Upgrade', 'Expect', 'TE', 'Trailer'])
      expect(() => read(`${name}: x`)).toThrow(`cannot be ${name}, which`);
  });

  test('the address of an http sink is shown without path and query, which may be secret', () => {
    const shown = (text: string): string =>
      readSettings(SETTING_NAMES, { traccarSink: text }, {})
        .shown.find((row) => row.startsWith('HEXCODES_TRACCAR_SINK='))!
        .replace(/ *# --traccar-sink$/, '')
        .slice('HEXCODES_TRACCAR_SINK='.length);
    expect(shown('https://hooks.example.com/services/T0/SECRET')).toBe('https://hooks.example.com/…');
    expect(shown('HTTP://10.0.0.7:8080/?token=SECRET')).toBe('http://10.0.0.7:8080/…');
    expect(shown('https://example.com')).toBe('https://example.com');
    expect(shown('nats://10.0.0.7:4222/fleet.positions')).toBe('nats://10.0.0.7:4222/fleet.positions');
    expect(shown(`file:${folder}/a.csv`)).toBe(`file:${folder}/a.csv`);
  });

  test('the space for positions that wait holds the longest one', () => {
    const read = (text: string) =>
      readConfig(SETTING_NAMES, { traccarBacklogBytes: text }, {}).traccarBacklogBytes;
    expect(read('1048576')).toBe(1_048_576);
    expect(() => read('1048575')).toThrow('--traccar-backlog-bytes must be an integer from 1048576 to');
  });

  test('a service without a NATS sink names files of credentials and does not read them', () => {
    const { traccarNatsCredsFile, traccarNatsTlsCaFile } = readConfig(
      SETTING_NAMES,
      {},
      { HEXCODES_NATS_CREDS: '/no/such/file', HEXCODES_NATS_TLS_CA: '/none' },
    );
    expect([traccarNatsCredsFile, traccarNatsTlsCaFile]).toEqual(['/no/such/file', '/none']);
  });

  test('docs/traccar.md has every variable', () => {
    const text = readFileSync('docs/traccar.md', 'utf8');
    const variables = readSettings(SETTING_NAMES, {}, {}).shown.map((row) => row.split('=')[0]!);
    const own = variables.filter((name) => name.startsWith('HEXCODES_TRACCAR_'));
    expect(own.length).toBeGreaterThan(4);
    expect(own.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test("a NATS sink takes the workers' credentials, which are no flags of the service", () => {
    const { traccarNatsUser, traccarNatsToken } = readConfig(
      SETTING_NAMES,
      {},
      {
        HEXCODES_NATS_USER: 'me',
        HEXCODES_NATS_TOKEN: 'abc',
      },
    );
    expect([traccarNatsUser, traccarNatsToken]).toEqual(['me', 'abc']);
    expect(flagsOf(SETTING_NAMES).filter(({ flags }) => /^--(user|creds|nkey|tls)/.test(flags))).toEqual([]);
  });
});

// The address of a map under the console: raster tiles, or a style.
describe('the basemap', () => {
  const read = (text: string): string | undefined =>
    readConfig(['tilesUrl'], {}, { HEXCODES_TILES_URL: text }).tilesUrl;

  test.each([
    'https://tiles.example/{z}/{x}/{y}.png',
    'http://10.0.0.7:8081/{z}/{y}/{x}?key=1',
    'https://tiles.example/style.json',
  ])('%s is taken as it is', (text) => {
    expect(read(text)).toBe(text);
  });

  test.each([
    ['tiles.example/{z}/{x}/{y}.png', 'begins with https'],
    ['ftp://tiles.example/style.json', 'begins with https'],
    ['javascript:alert(1)', 'begins with https'],
    ['https://{s}.tiles.example/{z}/{x}/{y}.png', 'one host'],
    ['https://tiles.example/{z}/{x}.png', 'all three'],
    ['https://tiles.example/{z}/{x}/{y}.pbf', 'vector tiles'],
  ])('%s is refused: %s', (text, reason) => {
    expect(() => read(text)).toThrow(reason);
  });
});
