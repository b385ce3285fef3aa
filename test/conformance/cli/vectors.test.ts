// The recorded vectors through the command, converted by bytes and by columns.

import { afterAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';
import { OPEN_INDEX } from '../../support/open-world.js';
import { CODE_ROWS, READING_ROWS } from '../../support/vectors.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

/** Last digits of centres may differ by 1e-9 degrees. */
const isNear = (a: string, b: number): boolean => Math.abs(Number(a) - b) < 1e-9;

describe.each([
  ['bytes', []],
  ['columns', ['--keep', 'n,hexcodes']],
] as const)('by %s', (_, options) => {
  test('codes.csv: every code gives its centre', async () => {
    const rows = CODE_ROWS;
    folder.write('codes.csv', `n,hexcodes\n${rows.map(({ code }, n) => `${n},${code}\n`).join('')}`);
    const ran = await folder.run(['decode', 'codes.csv', '-q', ...options]);
    const lines = ran.stdout.trimEnd().split('\n').slice(1);
    expect(lines).toHaveLength(rows.length);
    lines.forEach((line, i) => {
      const row = rows[i]!;
      const [n, code, lat, lng, resolution, status] = line.split(',') as string[];
      expect([n, code, resolution, status]).toEqual([String(i), row.code, String(row.resolution), 'OK']);
      expect(isNear(lat!, row.centerLat) && isNear(lng!, row.centerLng)).toBe(true);
    });
  });

  test('reading.csv: every text is read or refused as recorded', async () => {
    const rows = READING_ROWS.filter(({ text }) => text !== '' && !text.includes('\0'));
    expect(rows.length).toBeGreaterThan(40);
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    folder.write(
      'reading.csv',
      `n,hexcodes\n${rows.map(({ text }, n) => `${n},${quoted(text)}\n`).join('')}`,
    );
    const library = await Hexcodes.load();
    const ran = await folder.run(['decode', 'reading.csv', '-q', ...options]);
    for (const [i, { text, code }] of rows.entries()) {
      const decoded = code === null ? null : library.decode(code);
      const ending =
        decoded === null ? ',,,,INVALID_HEXCODES' : `,${decoded.lat},${decoded.lng},${decoded.resolution},OK`;
      const found =
        ran.stdout.includes(`${i},${quoted(text)}${ending}\n`) ||
        ran.stdout.includes(`${i},${text}${ending}\n`);
      expect([text, found]).toEqual([text, true]);
    }
  });
});

test('codes.csv: places inside the coverage give their code', async () => {
  const library = await Hexcodes.load();
  const rows = CODE_ROWS.filter(({ lat, lng, adminCode }) => library.adminCodeOf(lat, lng) === adminCode);
  expect(rows.length).toBeGreaterThan(300);
  folder.write(
    'places.csv',
    `lat,lng,resolution\n${rows.map(({ lat, lng, resolution }) => `${lat},${lng},${resolution}\n`).join('')}`,
  );
  const ran = await folder.run(['encode', 'places.csv', '-q']);
  const codes = ran.stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')[3]);
  expect(codes).toEqual(rows.map(({ code }) => code));
});

test('HEXCODES_INDEX replaces the boundaries', async () => {
  folder.write('open.bin', OPEN_INDEX);
  const env = { HEXCODES_INDEX: folder.file('open.bin') };
  // In the made-up boundaries this position, far from every real border, is in another province.
  const own = await folder.run(['encode', '21.0288,105.8525'], { env });
  const shipped = await folder.run(['encode', '21.0288,105.8525']);
  expect([own.code, own.stdout === shipped.stdout]).not.toEqual([0, true]);
  for (const path of ['none.bin', 'codes.csv']) {
    const broken = await folder.run(['encode', '21.0288,105.8525'], { env: { HEXCODES_INDEX: path } });
    expect([broken.code, broken.stderr]).toEqual([3, expect.stringContaining(`HEXCODES_INDEX=${path}`)]);
  }
});
