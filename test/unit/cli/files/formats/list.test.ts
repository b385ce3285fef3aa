// The list of file formats: names and first bytes lead to one format each, and docs/command.md names every one.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILE_FORMATS, FORMATS, formatOfBytes, formatOfName } from '#dist/files/format.js';

const table = readFileSync(new URL('../../../../../docs/command.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '));

test('no extension belongs to two formats', () => {
  const all = FILE_FORMATS.flatMap((name) => FORMATS[name].extensions);
  expect(new Set(all).size).toBe(all.length);
});

test.each(FILE_FORMATS.map((name) => [name] as const))('%s is found by each of its extensions', (name) => {
  for (const extension of FORMATS[name].extensions)
    for (const path of [`a.${extension}`, `a.b/c.${extension.toUpperCase()}.gz`, `a.${extension}.zst`])
      expect(formatOfName(path).format, path).toBe(name);
});

test.each(FILE_FORMATS.map((name) => [name] as const))('docs/command.md has a row for %s', (name) => {
  const { title, extensions } = FORMATS[name];
  const row = table.find((line) => line.slice(2).split(' | ')[0]!.split(', ').includes(title));
  expect(row, title).toBeDefined();
  for (const extension of extensions) expect(row).toContain(`\`.${extension}\``);
});

test.each([
  ['csv', 'id,lat,lng\n1,21,105\n'],
  ['csv', ''],
  ['csv', 'a\tb,c\n'],
  ['ndjson', '{"a":1}\t\n'],
  ['tsv', '\ufefflat\tlng\n21\t105\n'],
  ['ndjson', ' {"lat":21}\n'],
  ['geojson', '\u001e{"type":"Feature"}\n'],
  ['parquet', 'PAR1'],
  ['arrow', 'ARROW1\0\0'],
])('first bytes of %s: %j', (name, content) => {
  expect(formatOfBytes(Buffer.from(content))).toBe(name);
});
