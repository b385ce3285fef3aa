// Batches of text formats end at as many bytes as at as many rows, and hold every row once; rows that are read again
// after `--resume` are the same, whatever the ceiling is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceOf } from '../../../../support/files/damaged.js';
import { ownFolder } from '../../../../support/own-folder.js';

const scratch = ownFolder('batches');

async function batchesOf(name: string, content: string): Promise<{ rows: number; ids: unknown[] }[]> {
  const path = join(scratch, name);
  writeFileSync(path, content);
  const { input, source } = await sourceOf(path, 'any');
  const id = source.columns.findIndex((column) => column.name === 'id');
  const batches: { rows: number; ids: unknown[] }[] = [];
  for await (const { rowCount, values } of source.batches())
    batches.push({ rows: rowCount, ids: Array.from(values[id]!) });
  input.close();
  return batches;
}

const LONG = 'x'.repeat(60_000);
const ROWS = 3000;
const ids = Array.from({ length: ROWS }, (_, i) => i);

test.each([
  ['long.csv', `id,text\n${ids.map((id) => `${id},${LONG}\n`).join('')}`],
  ['long.ndjson', ids.map((id) => `{"id":${id},"text":"${LONG}"}\n`).join('')],
  [
    'long.geojson',
    `{"type":"FeatureCollection","features":[${ids
      .map((id) => `{"type":"Feature","geometry":null,"properties":{"id":${id},"text":"${LONG}"}}`)
      .join(',')}]}`,
  ],
])('%s: rows of 60 kB', async (name, content) => {
  const batches = await batchesOf(name, content);
  expect(batches.flatMap((batch) => batch.ids.map(Number))).toEqual(ids);
  expect(Math.max(...batches.map(({ rows }) => rows))).toBeLessThan(1300);
});

test('short rows: 8,192 in a batch', async () => {
  const rows = Array.from({ length: 10_000 }, (_, id) => `{"id":${id}}\n`);
  expect((await batchesOf('short.ndjson', rows.join(''))).map(({ rows: count }) => count)).toEqual([
    8192, 1808,
  ]);
});

test('rows of many columns: fewer in a batch', async () => {
  const rows = Array.from({ length: 200 }, (_, id) => {
    const fields = Array.from({ length: 400 }, (_, i) => `"f${id}_${i}":1`);
    return `{"id":${id},${fields.join(',')}}\n`;
  });
  await expect(batchesOf('wide.ndjson', rows.join(''))).rejects.toThrow(/more than 65536 fields/);
  const batches = await batchesOf('less.ndjson', rows.slice(0, 150).join(''));
  expect(Math.max(...batches.map(({ rows: count }) => count))).toBe(69);
  expect(batches.flatMap((batch) => batch.ids)).toEqual(ids.slice(0, 150));
});

test('texts of a GeoJSON sequence begin with a separator', async () => {
  const rows = [1, 2].map((id) => `\u001e{"type":"Feature","geometry":null,"properties":{"id":${id}}}\n`);
  expect((await batchesOf('seq.geojson', rows.join(''))).flatMap((batch) => batch.ids)).toEqual([1, 2]);
});

test('brackets and quotes in texts of features', async () => {
  const texts = ['}"', '\\"{', '\\\\', '[{\\"]', 'a\\\\\\"}'].map((text) => text.replace(/^}"$/, '}'));
  const features = texts.map(
    (text, id) => `{"type":"Feature","geometry":null,"properties":{"id":${id},"t":"${text}"}}`,
  );
  const whole = `{"type":"FeatureCollection","features":[${features.join(' , ')}]}`;
  expect((await batchesOf('marks.geojson', whole)).flatMap((batch) => batch.ids)).toEqual([0, 1, 2, 3, 4]);
});

test('a line of more than 16 MiB is refused, with or without its end', async () => {
  const row = (letters: number) => `{"id":1,"t":"${'x'.repeat(letters - 15)}"}`;
  expect(row(100).length).toBe(100);
  const most = 16 * 2 ** 20;
  expect((await batchesOf('most.ndjson', `${row(most)}\n`)).map(({ rows }) => rows)).toEqual([1]);
  await expect(batchesOf('more.ndjson', `${row(most + 1)}\n`)).rejects.toThrow(
    /row 1: a line of more than 16 MiB/,
  );
  await expect(batchesOf('open.ndjson', row(most + 1))).rejects.toThrow(/row 1: a line of more than 16 MiB/);
});
