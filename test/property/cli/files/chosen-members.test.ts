// `--keep` and `--drop` of NDJSON: lines are made of members whose texts are known, and the kept ones are in the answer
// as they were written, by both ways on which a line is converted.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { type Converted, converted, type Request } from '../../../support/files/pipelines.js';
import { ownFolder } from '../../../support/shared.js';

const scratch = ownFolder('chosen-members');
const hexcodes = await Hexcodes.load();

/** Names as they may be spelled; the first ones are columns of every file. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  lat: ['"lat"', '"l\\u0061t"'],
  lng: ['"lng"'],
  id: ['"id"', '"\\u0069d"'],
  note: ['"note"'],
  'tên xe': ['"tên xe"', '"t\\u00ean xe"'],
  'a"b\\': ['"a\\"b\\\\"'],
  hexcodes: ['"hexcodes"'],
  status: ['"status"', '"st\\u0061tus"'],
  '': ['""'],
  n: ['"n"'],
  no: ['"no"'],
  id_of_the_vehicle_that_sent_it: ['"id_of_the_vehicle_that_sent_it"'],
  id_of_the_vehicle_that_sent_us: ['"id_of_the_vehicle_that_sent_us"'],
};
const NAMES = Object.keys(SPELLINGS);
const FIRST = NAMES.slice(0, 6);
const VALUES = [
  '1',
  '1.0',
  '-1e3',
  '"x"',
  '"a\\"},{"',
  'null',
  'true',
  '[1, {"lat": 2}]',
  '{"id" :[]}',
  '12345678901234567890',
];
const BLANKS = ['', '', ' ', '\t', '  '];

interface Member {
  readonly name: string;
  readonly text: string;
}

const memberOf = (name: fc.Arbitrary<string>) =>
  name.chain((each) =>
    fc
      .tuple(
        fc.constantFrom(...SPELLINGS[each]!),
        fc.constantFrom(...BLANKS),
        fc.constantFrom(...BLANKS),
        fc.constantFrom(...VALUES),
      )
      .map(
        ([spelled, before, after, value]): Member => ({
          name: each,
          text: `${spelled}${before}:${after}${value}`,
        }),
      ),
  );

/** A line in Hà Nội. Members whose names are not those of a position may be given twice. */
const line = fc
  .tuple(
    fc.array(memberOf(fc.constantFrom(...NAMES.slice(2))), { maxLength: 8 }),
    fc.constantFrom(...BLANKS),
    fc.constantFrom(...SPELLINGS.lat!),
    fc.infiniteStream(fc.nat()),
  )
  .map(([others, blank, latName, at]) => {
    const members = [...others];
    for (const member of [
      { name: 'lat', text: `${latName}:${blank}21.0288` },
      { name: 'lng', text: '"lng": 105.8525' },
    ])
      members.splice((at.next().value as number) % (members.length + 1), 0, member);
    return {
      members,
      text: `{${blank}${members.map(({ text }) => text).join(`${blank},${blank}`)}${blank}}`,
    };
  });

const names = fc.uniqueArray(fc.constantFrom(...FIRST), { minLength: 1, maxLength: FIRST.length });

/** The texts of the members that are kept. */
function due(
  members: readonly Member[],
  { keep, drop }: { keep?: readonly string[]; drop?: readonly string[] },
): string[] {
  if (keep !== undefined)
    return keep.flatMap((name) => members.findLast((member) => member.name === name)?.text ?? []);
  const gone = [...drop!, ...OURS];
  return members.filter(({ name }) => !gone.includes(name)).map(({ text }) => text);
}

const OURS = ['hexcodes', 'resolution', 'admin_code', 'status'];
const ANSWER = '"hexcodes":"HN-6GHP4-83R69","resolution":12,"admin_code":"HN","status":"OK"';
const USUAL = `{${FIRST.map((name) => `${SPELLINGS[name]![0]}:${{ lat: 21.0288, lng: 105.8525 }[name] ?? 1}`).join()}}`;

/** Lines after usual ones, by both ways. @returns the answers to the lines */
async function bothWays(
  usual: number,
  lines: readonly string[],
  columns: Partial<Request['columns']>,
): Promise<(Converted & { answers: string[] })[]> {
  const path = join(scratch, 'in.ndjson');
  writeFileSync(path, [...new Array<string>(usual).fill(USUAL), ...lines].join('\n'));
  const both = [];
  for (const given of [{}, { pipeline: 'values' }] as const) {
    const done = await converted(hexcodes, [path], join(scratch, 'out.ndjson'), {
      columns: { prefix: '', ...columns },
      ...given,
    });
    both.push({ ...done, answers: done.bytes?.toString().trimEnd().split('\n').slice(usual) ?? [] });
  }
  return both;
}

test('the members that are kept are in the answer as they were written', async () => {
  let copied = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 40 }),
      names,
      fc.boolean(),
      async (lines, listed, isKeep) => {
        const columns = isKeep ? { keep: listed } : { drop: listed };
        const isTaken =
          !isKeep && lines.some(({ members }) => members.some(({ name }) => OURS.includes(name)));
        for (const { fault, answers, lines: said } of await bothWays(
          1,
          lines.map(({ text }) => text),
          columns,
        )) {
          if (said.some((each) => each.includes('lines were copied'))) copied++;
          if (isTaken) expect(fault).toMatch(/there is a column (hexcodes|status) already/);
          else
            expect(answers).toEqual(
              lines.map(({ members }) => `{${[...due(members, columns), ANSWER].join()}}`),
            );
        }
      },
    ),
    { numRuns: 150, endOnFailure: true },
  );
  expect(copied).toBeGreaterThan(50);
});

test('--drop leaves members that only later lines have; those of our names are replaced', async () => {
  const late = '{"x":1.0,"lat":21.0288,"id":2,"status":"late","lng":105.8525}';
  for (const { answers } of await bothWays(10_000, [late], { drop: ['id', 'note'] }))
    expect(answers).toEqual([`{"x":1.0,"lat":21.0288,"lng":105.8525,${ANSWER}}`]);
});

test('with --keep a feature is a row in NDJSON; a later member is refused, not lost', async () => {
  const path = join(scratch, 'in.geojson');
  const feature = (properties: object): object => ({
    ...{ type: 'Feature', geometry: { type: 'Point', coordinates: [105.8525, 21.0288] } },
    properties,
  });
  const write = (...features: object[]): void =>
    writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features }));
  const rowsOf = (columns: Partial<Request['columns']>): Promise<Converted> =>
    converted(hexcodes, [path], join(scratch, 'out.ndjson'), { columns: { prefix: '', ...columns } });
  write(feature({ id: 1, note: ['a'], x: 'b' }));
  expect(`${(await rowsOf({ keep: ['note', 'id'] })).bytes}`).toBe(`{"note":["a"],"id":1,${ANSWER}}\n`);
  const { bytes } = await rowsOf({ drop: ['x', 'note'] });
  expect(`${bytes}`).toBe(`{"lat":21.0288,"lng":105.8525,"id":1,${ANSWER}}\n`);
  write(...new Array<object>(20_000).fill(feature({ id: 1, note: 'a' })), feature({ late: 1 }));
  expect((await rowsOf({ drop: ['id'] })).fault).toContain('a field that none of the first rows has');
});
