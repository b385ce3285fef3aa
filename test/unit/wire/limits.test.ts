// The limits of the wire stand in one file; clients that cannot import it have copies, which are compared here.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_BATCH_ITEMS, MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '#dist/hexcodes/wire/limits.js';

test('the Python client cuts batches as the service takes them', () => {
  const source = readFileSync('clients/python/hexcodes_client.py', 'utf8');
  expect(Number(/^BATCH_ITEMS = ([\d_]+)$/m.exec(source)?.[1]?.replaceAll('_', ''))).toBe(MAX_BATCH_ITEMS);
});

test.each(['docs/http.md', 'docs/bulk.md'])('%s says how many items a batch has', (page) => {
  const text = readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
  const said = [...text.matchAll(/([\d,]+) (?:of them|items|in one JSON body)/g)].map((match) => match[1]);
  expect(said.length).toBeGreaterThan(0);
  expect(new Set(said)).toEqual(new Set([MAX_BATCH_ITEMS.toLocaleString('en')]));
});

test('the example of a ready frame has the limits of today', () => {
  const ready = /^\{"type":"ready".*\}$/m.exec(readFileSync('docs/stream.md', 'utf8'))?.[0] ?? '{}';
  expect(JSON.parse(ready)).toMatchObject({ max_frame_bytes: MAX_FRAME_BYTES, max_points: MAX_FRAME_POINTS });
});
