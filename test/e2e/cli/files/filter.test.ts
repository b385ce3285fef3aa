// The command as a filter: a row of a pipe is answered before the next one comes.
import { spawn } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

const PLACES = [
  [21.0288, 105.8525],
  [10.7769, 106.7009],
  [16.0544, 108.2022],
] as const;

interface Filter {
  /** Text before the first row, which has no answer. */
  readonly lead?: string;
  readonly row: (lat: number, lng: number, n: number) => string;
  readonly args: readonly string[];
  /** The end of an answer, with the number of the row in it. */
  readonly answered: (n: number) => RegExp;
  readonly bytes?: (text: string) => Buffer;
}

const jsonAnswered = (n: number): RegExp => new RegExp(`"n":${n}\\b.*"OK"\\}`);
const csvAnswered = (n: number): RegExp => new RegExp(`^n${n}\\b.*,OK\\n`, 'm');
const feature = (lat: number, lng: number, n: number): string =>
  `{"type":"Feature","properties":{"n":${n}},"geometry":{"type":"Point","coordinates":[${lng},${lat}]}}`;

const FILTERS: Readonly<Record<string, Filter>> = {
  csv: {
    lead: 'n,lat,lng\n',
    row: (lat, lng, n) => `n${n},${lat},${lng}\n`,
    args: [],
    answered: csvAnswered,
  },
  'csv without a header, as ClickHouse writes it': {
    row: (lat, lng, n) => `n${n},${lat},${lng}\n`,
    args: ['--no-header', '--from', 'csv', '--lat', '2', '--lng', '3'],
    answered: csvAnswered,
  },
  'csv with quotes': {
    lead: '"n",lat,lng,note\n',
    row: (lat, lng, n) => `n${n},${lat},${lng},"two\nlines, ""${n}"""\n`,
    args: ['--keep', 'n,lat,lng'],
    answered: csvAnswered,
  },
  'csv of fields chosen': {
    lead: 'n,lat,lng,note\n',
    row: (lat, lng, n) => `n${n},${lat},${lng},x\n`,
    args: ['--drop', 'note', '--certainty'],
    answered: csvAnswered,
  },
  'csv in UTF-16': {
    lead: 'n,lat,lng\n',
    row: (lat, lng, n) => `n${n},${lat},${lng}\n`,
    args: ['--encoding', 'utf-16le', '--from', 'csv'],
    answered: csvAnswered,
    bytes: (text) => Buffer.from(text, 'utf16le'),
  },
  'csv, packed in members': {
    lead: 'n,lat,lng\n',
    row: (lat, lng, n) => `n${n},${lat},${lng}\n`,
    args: [],
    answered: csvAnswered,
    bytes: (text) => gzipSync(text),
  },
  'csv, decoded by threads': {
    lead: 'n,hexcodes\n',
    row: (_lat, _lng, n) => `n${n},HN-6GHP4-83RFR\n`,
    args: ['--threads', '2'],
    answered: (n) => new RegExp(`^n${n},.*,OK\\n`, 'm'),
  },
  'codes of letters alone, without a header': {
    row: (_lat, _lng, n) => `${'abc'[n]},HN-6GHP4-83RFR\n`.replaceAll(/\d/g, 'X'),
    args: ['--no-header', '--from', 'csv', '--column', '2', '--errors', 'keep'],
    answered: (n) => new RegExp(`^${'abc'[n]},.*,INVALID_HEXCODES\n`, 'm'),
  },
  tsv: {
    lead: 'n\tlat\tlng\n',
    row: (lat, lng, n) => `n${n}\t${lat}\t${lng}\n`,
    args: [],
    answered: (n) => new RegExp(`^n${n}\\b.*\\tOK\\n`, 'm'),
  },
  'csv to ndjson': {
    lead: 'n,lat,lng\n',
    row: (lat, lng, n) => `${n},${lat},${lng}\n`,
    args: ['--to', 'ndjson'],
    answered: (n) => new RegExp(`"n":"?${n}\\b.*"OK"\\}`),
  },
  ndjson: {
    row: (lat, lng, n) => `{"n":${n},"lat":${lat},"lng":${lng}}\n`,
    args: [],
    answered: jsonAnswered,
  },
  'ndjson to csv': {
    row: (lat, lng, n) => `{"n":"n${n}","lat":${lat},"lng":${lng}}\n`,
    args: ['--to', 'csv'],
    answered: csvAnswered,
  },
  'ndjson, decoded': {
    row: (_lat, _lng, n) => `{"n":${n},"hexcodes":"HN-6GHP4-83RFR"}\n`,
    args: [],
    answered: jsonAnswered,
  },
  'features, one a line': {
    row: (lat, lng, n) => `${feature(lat, lng, n)}\n`,
    args: ['--from', 'geojson'],
    answered: jsonAnswered,
  },
  'a sequence of features (RFC 8142)': {
    row: (lat, lng, n) => `\u001e${feature(lat, lng, n)}\n`,
    args: [],
    answered: jsonAnswered,
  },
};

for (const [name, { lead = '', row, args, answered, bytes = Buffer.from }] of Object.entries(FILTERS)) {
  test(name, async () => {
    const command = /decoded|codes/.test(name) ? 'decode' : 'encode';
    const [program, ...words] = folder.commandLine([command, '-', ...args, '-q']);
    const child = spawn(program!, words, { cwd: folder.path, stdio: ['pipe', 'pipe', 'inherit'] });
    let out = '';
    let heard = (): void => undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      heard();
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const until = (pattern: RegExp): Promise<void> =>
      new Promise((resolve) => {
        heard = () => {
          if (pattern.test(out)) resolve();
        };
        heard();
      });
    const rows = PLACES.map(([lat, lng], n) => row(lat, lng, n));
    if (lead !== '') child.stdin.write(bytes(lead));
    for (const [n, text] of rows.entries()) {
      expect(out).not.toMatch(answered(n));
      child.stdin.write(bytes(text));
      await until(answered(n));
    }
    child.stdin.end();
    expect(await ended).toBe(name.startsWith('codes') ? 1 : 0);
    // A file gives the same bytes.
    folder.write('in', Buffer.concat([lead, ...rows].map((text) => bytes(text))));
    expect(out).toBe((await folder.run([command, 'in', ...args, '-q'])).stdout);
  });
}
