// NDJSON to NDJSON by bytes gives the bytes and counts of the conversion value by value, which a pipe is converted by:
// over lines of every kind, also those that the kernel leaves, in blocks with thousands of usual ones.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { coded, converted, expectAlike, policies } from '../../../support/files/roads.js';
import { ownFolder } from '../../../support/own-folder.js';

const scratch = ownFolder('lines');
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

const number = fc.oneof(
  fc.double({ min: 8, max: 23, noNaN: true }),
  fc.double({ min: 102, max: 109, noNaN: true }),
  fc.constantFrom(0, -0, 1e300, 21, 105.8, 90.0000001),
);
const usual = fc
  .tuple(
    fc.integer(),
    fc.double({ min: 20, max: 21.5, noNaN: true }),
    fc.double({ min: 105, max: 106.5, noNaN: true }),
  )
  .map(([id, lat, lng]) => `{"id":${id},"lat":${lat},"lng":${lng}}`);
/** Lines that the kernel reads, whose positions have no code. */
const outside = fc.constantFrom(
  '{"lat":0.5,"lng":105.8}',
  '{"lat":105.8,"lng":21.03}',
  '{"id":"a","lat":91,"lng":1e3}',
);
const odd = fc.oneof(
  fc.tuple(number, number).map(([lat, lng]) => `{"lng":${lng},"lat":${lat}}`),
  fc.tuple(number, fc.string()).map(([lat, text]) => JSON.stringify({ name: text, lat, lng: 105.8 })),
  fc.constantFrom(
    ...[
      '',
      '  ',
      ' {"lat":21,"lng":105.8}',
      '{"lat":21,"lng":105.8} ',
      '{"lat":21,"lng":105.8 }',
      '{"lat":21,"lng":105.8}\r',
    ],
    ...[
      '{"lat":"21,03","lng":"105.8"}',
      '{"lat":null,"lng":105.8}',
      '{"lng":105.8}',
      '{}',
      '{"lat":21,"lng":105.8,"lat":22}',
    ],
    ...['{"lat":21,"lng":105.8,"status":"mine","x":1.50}', '{"lat":21,"lng":105.8,"a":{"hexcodes":1}}'],
    ...[
      '{"lat":21,"lng":105.8,"h\\u0065xcodes":"x"}',
      '{"lat":21,"lng":105.8,"resolution":7}',
      '\u001e{"lat":21,"lng":105.8}',
    ],
    ...[
      '{"lat":2.10e1,"lng":1058E-1,"big":123456789012345678901234567890}',
      '{"lat":21,"lng":105.8,"name":"Hà Nội 😀"}',
    ],
    ...[
      `{"lat":21,"lng":105.8,"long":"${'x'.repeat(2000)}"}`,
      `{"lat":21,"lng":105.8,"deep":${'['.repeat(300)}${']'.repeat(300)}}`,
    ],
    ...[
      '{"lat":21,"lng":105.8}\t',
      '{"lat":21,"lng":105.8,"n":"\\ud800"}',
      '{"lat":0.5,"lng":105.8}',
      '{"lat":105.8,"lng":21}',
    ],
  ),
);
const broken = fc.constantFrom(
  '{',
  '[21,105.8]',
  '{"lat":21,"lng":105.8}x',
  '{"lat":021,"lng":1}',
  'null',
  '{"a":"\0"}',
  '{"lat":21,"lng":105.8,}',
);
const options = fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean() });
/** Names of the position in the file, with and without options that name them, and whether rows have resolutions. */
const names = fc.constantFrom<readonly [lat: string, lng: string, isChosen: boolean, hasOwn: boolean]>(
  ['lat', 'lng', false, false],
  ['lat', 'lng', true, false],
  ['latitude', 'lon', false, false],
  ['vĩ độ', 'laenge', true, false],
  ['lat', 'lng', false, true],
  ['breite', 'laenge', true, true],
);

test('lines of every kind', async () => {
  let byBytes = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: outside }), {
        minLength: 3,
        maxLength: 30,
      }),
      fc.array(odd, { maxLength: 20 }),
      fc.option(broken, { freq: 1 }),
      policies(scratch, 'ndjson'),
      fc.integer({ min: 0, max: 4000 }),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 3000, max: 50_000 }),
      options,
      names,
      async (given, middle, wrong, errors, between, hasEnd, isLate, isThreaded, sliceBytes, by, named) => {
        const [lat, lng, isChosen, hasOwn] = named;
        const columns = isChosen ? { prefix: '', lat, lng } : { prefix: '' };
        const asked = { errors, columns, ...by };
        const first = hasOwn ? given.map((line, n) => `${line.slice(0, -1)},"resolution":${n % 17}}`) : given;
        // The columns are those of the first 8,192 rows.
        const before = isLate ? Array.from({ length: 8200 }, (_, i) => first[i % first.length]!) : [];
        const filler = Array.from({ length: between }, (_, i) => first[i % first.length]!);
        const all = [
          ...before,
          ...first,
          ...filler,
          ...middle,
          ...first,
          ...(wrong === null ? [] : [wrong]),
          ...filler,
        ];
        const path = join(scratch, 'in.ndjson');
        const [fast, slow] = [join(scratch, 'fast.ndjson'), join(scratch, 'slow.ndjson')];
        const text = all.join('\n') + (hasEnd ? '\n' : '');
        writeFileSync(path, text.replaceAll('"lat"', `"${lat}"`).replaceAll('"lng"', `"${lng}"`));
        const quick = await converted(hexcodes, [path], fast, asked);
        if (quick.lines.some((line) => line.startsWith('Converted by bytes'))) byBytes++;
        if (isThreaded)
          expect(await converted(hexcodes, [path], slow, { ...asked, threads: 2, sliceBytes })).toEqual(
            quick,
          );
        const careful = await converted(hexcodes, [path], slow, { ...asked, road: 'columns' });
        expect(careful.lines.some((line) => line.startsWith('Converted by bytes'))).toBe(false);
        await expectAlike(quick, careful, 'ndjson');
      },
    ),
    { numRuns: 12, endOnFailure: true },
  );
  expect(byBytes).toBeGreaterThan(0);
});

test('codes of every kind', async () => {
  let byBytes = 0;
  const property = fc.asyncProperty(
    fc.array(coded(usual), { minLength: 1, maxLength: 30 }),
    fc.array(coded(odd), { maxLength: 20 }),
    fc.option(coded(broken), { freq: 1 }),
    policies(scratch, 'ndjson'),
    fc.constantFrom(0, 300, 5000),
    fc.boolean(),
    fc.constantFrom('', 'd_'),
    async (given, middle, wrong, errors, between, isThreaded, prefix) => {
      const filler = Array.from({ length: between }, (_, i) => given[i % given.length]!);
      const last = wrong === null ? [] : [wrong];
      const path = join(scratch, 'codes.ndjson');
      // The other half of a position has the name of a column of ours.
      const text = [...given, ...filler, ...middle, ...given, ...last, ...filler].join('\n');
      writeFileSync(path, prefix === '' ? text.replaceAll('"lng"', '"x"') : text);
      const [fast, slow] = [join(scratch, 'fast.ndjson'), join(scratch, 'slow.ndjson')];
      const asked = { operation: 'decode', errors, columns: { prefix } } as const;
      const quick = await converted(hexcodes, [path], fast, asked);
      if (quick.lines.some((line) => line.startsWith('Converted by bytes'))) byBytes++;
      if (isThreaded)
        expect(await converted(hexcodes, [path], slow, { ...asked, threads: 2, sliceBytes: 5000 })).toEqual(
          quick,
        );
      await expectAlike(
        quick,
        await converted(hexcodes, [path], slow, { ...asked, road: 'columns' }),
        'ndjson',
      );
    },
  );
  await fc.assert(property, { numRuns: 30, endOnFailure: true });
  expect(byBytes).toBeGreaterThan(5);
});

test('fields of a second file in another order, on both roads', async () => {
  const [a, b] = [join(scratch, 'a.ndjson'), join(scratch, 'b.ndjson')];
  writeFileSync(a, '{"lat":21.03,"lng":105.8}\n');
  writeFileSync(b, '{"lng":105.8,"id":1,"lat":21.03}\n');
  for (const by of [{}, { road: 'columns' }] as const) {
    const both = join(scratch, 'both.ndjson');
    const { bytes } = await converted(hexcodes, [a, b], both, { errors: { kind: 'stop' }, ...by });
    const codes = bytes!.toString().match(/"hexcodes":"[^"]+"/g);
    expect(codes).toHaveLength(2);
    expect(new Set(codes).size).toBe(1);
  }
});
