// border_m and certainty in answers to rows: the same in every format, in rows that the kernel writes and in rows that
// the host writes, and nothing else of the answer changes.
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { convertBlock } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import { ByteSink } from '#dist/hexcodes/wire/bytes/byte-sink.js';
import type { BulkFormat, BulkRequest } from '#dist/hexcodes/wire/job.js';
import { batchBody, convertBatch, openBatch } from '#dist/hexcodes/wire/rows/batch.js';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';
import { shippedKernel } from '../../../support/shipped.js';

const kernel = shippedKernel();
const library = new Hexcodes(shippedKernel());

/** Positions over the land, so near to borders and so far that every band occurs. */
const random = randomFrom(20261123);
const positions = Array.from({ length: 1500 }, () => {
  const [lat, lng] = [20.2 + random() * 1.6, 104.6 + random() * 2.2];
  return [Number(lat.toFixed(6)), Number(lng.toFixed(6))] as const;
});

/** Answers to a body, one a row; of CSV behind the header row. */
function answersTo(
  body: string,
  request: Partial<BulkRequest>,
  refusal?: 'OVER_QUERY_LIMIT',
  by = kernel,
): string[] {
  const whole: BulkRequest = {
    ...{ operation: 'encode', input: 'csv', output: 'csv', resolution: 13, prefix: '' },
    ...request,
  };
  const reader = new BulkReader(whole);
  const blocks = [...reader.push(Buffer.from(body)), ...reader.end()];
  const bytes = blocks.map(
    (block) => convertBlock(by, { ...reader.job!, ...(refusal && { refusal }) }, block).bytes,
  );
  const text = Buffer.concat([reader.head, ...bytes]).toString();
  return text.split(/\r?\n/).slice(0, -1);
}

const wantedAt = (lat: number, lng: number) => {
  const { border_m, certainty } = library.borderOf(lat, lng)!;
  return { border_m, certainty };
};

const ODD_CSV = [
  'name,lat,lng,resolution',
  '"Chợ, lớn",10.7500,106.6500,9',
  'short,10',
  'long,10.75,106.65,9,9,9',
  'many digits,20.446300000000000000000001,106.336600000000000000001,',
  'comma,"20,4463","106,3366",3',
  'none,x,y,7',
  'Paris,48.8584,2.2945,7',
  'bad resolution,20.4463,106.3366,99',
].join('\r\n');

test.each<[string, BulkFormat, boolean]>([
  ['CSV', 'csv', false],
  ['NDJSON', 'ndjson', false],
  ['CSV, beside former_province', 'csv', true],
  ['NDJSON, beside former_province', 'ndjson', true],
])('of CSV as %s: the numbers of the library, and no other change', (_, output, former) => {
  const body = `${ODD_CSV}\r\n${positions.map(([lat, lng]) => `place,${lat},${lng},`).join('\r\n')}\r\n`;
  const plain = answersTo(body, { output, former });
  const asked = answersTo(body, { output, former, certainty: true });
  expect(asked.length).toBe(plain.length);
  const shares = new Set<number | null>();
  for (const [i, line] of asked.entries()) {
    if (output === 'csv') {
      const fields = csvFields(line, 44)!;
      const added = fields.splice(-3, 2);
      expect(fields).toEqual(csvFields(plain[i]!, 44));
      if (i === 0) expect(added).toEqual(['border_m', 'certainty']);
      else if (fields.at(-1) !== 'OK') expect(added).toEqual(['', '']);
      else {
        const [lat, lng] = [fields[1]!, fields[2]!].map((text) => Number(text.replace(',', '.')));
        const { border_m, certainty } = wantedAt(lat!, lng!);
        expect(added).toEqual([border_m === null ? '' : String(border_m), String(certainty)]);
        shares.add(certainty);
      }
      continue;
    }
    const { border_m, certainty, ...rest } = JSON.parse(line);
    expect(JSON.stringify(rest)).toBe(plain[i]);
    const names = Object.keys(JSON.parse(line));
    expect(names.slice(names.indexOf('status') - 2, names.indexOf('status'))).toEqual([
      'border_m',
      'certainty',
    ]);
    expect({ border_m, certainty }).toEqual(
      rest.status === 'OK' ? wantedAt(rest.lat, rest.lng) : { border_m: null, certainty: null },
    );
    shares.add(certainty);
  }
  for (const { share } of kernel.bands) expect(shares).toContain(share);
});

test('of NDJSON, with ids, escapes and lines that are left to the host', () => {
  const lines = [
    '{"lat":21.0757,"lng":105.9872,"id":"a\\"b"}',
    '{"l\\u0061t":21.0757,"lng":105.9872,"id":7}',
    '{"lat":"x","lng":105.9872,"id":8}',
    '[21.0757,105.9872]',
    'x',
    ...positions.map(([lat, lng], i) => `{"lat":${lat},"lng":${lng},"id":${i}}`),
  ];
  const body = `${lines.join('\n')}\n`;
  const plain = answersTo(body, { input: 'ndjson', output: 'ndjson' });
  const asked = answersTo(body, { input: 'ndjson', output: 'ndjson', certainty: true });
  for (const [i, line] of asked.entries()) {
    const { border_m, certainty, ...rest } = JSON.parse(line);
    expect(JSON.stringify(rest)).toBe(JSON.stringify(JSON.parse(plain[i]!)));
    expect({ border_m, certainty }).toEqual(
      rest.status === 'OK' ? wantedAt(rest.lat, rest.lng) : { border_m: null, certainty: null },
    );
  }
  const asCsv = answersTo(body, { input: 'ndjson', output: 'csv', certainty: true });
  expect(asCsv[0]).toBe('id,lat,lng,hexcodes,resolution,admin_code,border_m,certainty,status');
  const { border_m, certainty } = wantedAt(21.0757, 105.9872);
  expect(border_m).not.toBeNull();
  expect(asCsv[1]).toMatch(
    new RegExp(`^"a""b",21\\.0757,105\\.9872,[A-Z]+-[^,]+,13,[A-Z]+,${border_m},${certainty},OK$`),
  );
});

test('rows that a quota refuses have none', () => {
  const body = 'lat,lng\n20.4463,106.3366\n';
  expect(answersTo(body, { certainty: true }, 'OVER_QUERY_LIMIT')[1]).toBe(
    '20.4463,106.3366,,13,,,,OVER_QUERY_LIMIT',
  );
  const [line] = answersTo(body, { certainty: true, output: 'ndjson' }, 'OVER_QUERY_LIMIT');
  expect(JSON.parse(line!)).toMatchObject({ border_m: null, certainty: null, status: 'OVER_QUERY_LIMIT' });
});

test('boundaries without bands: the distance alone', () => {
  const open = openKernel();
  const body = 'lat,lng\n21.4999,105.5\n';
  expect(answersTo(body, { certainty: true }, undefined, open)[1]).toMatch(/,11,,OK$/);
  const [line] = answersTo(body, { certainty: true, output: 'ndjson' }, undefined, open);
  expect(JSON.parse(line!)).toMatchObject({ border_m: 11, certainty: null });
});

test('a batch takes a member certainty, true or false, and refuses others', () => {
  const answer = (certainty: string): { results: Record<string, unknown>[] } => {
    const body = Buffer.from(`{"points":[[20.4463,106.3366],[0,0]]${certainty}}`);
    return JSON.parse(
      Buffer.from(batchBody(convertBatch(kernel, openBatch('encode', body), new ByteSink()))).toString(),
    );
  };
  const [first, outside] = answer(',"certainty":true').results;
  expect(first).toMatchObject(wantedAt(20.4463, 106.3366));
  expect(outside).toMatchObject({ border_m: null, certainty: null, status: 'NOT_FOUND' });
  for (const certainty of ['', ',"certainty":false'])
    expect(
      answer(certainty).results.every((result) => !('border_m' in result || 'certainty' in result)),
    ).toBe(true);
  for (const certainty of ['1', '"true"', '[]', 'true,"certainty":false'])
    expect(() => answer(`,"certainty":${certainty}`)).toThrow('certainty must be true or false');
});
