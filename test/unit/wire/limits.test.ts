// The limits of the wire are in the descriptions of the API; clients and documents have copies.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const [openapi, asyncapi] = ['openapi', 'asyncapi'].map((name) => readFileSync(`dist/${name}.json`, 'utf8'));
const MAX_BATCH_ITEMS = Math.max(
  ...Array.from(openapi!.matchAll(/"maxItems":\s*(\d+)/g), ([, n]) => Number(n)),
);
const exampleOf = (name: string): number =>
  Number(new RegExp(`"${name}":\\{[^}]*"examples":\\[(\\d+)\\]`).exec(asyncapi!.replaceAll(/\s/g, ''))?.[1]);

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
  expect(JSON.parse(ready)).toMatchObject({
    max_frame_bytes: exampleOf('max_frame_bytes'),
    max_points: exampleOf('max_points'),
  });
});
