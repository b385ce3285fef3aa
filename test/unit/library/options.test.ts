// Options of every call of the library and its client: one of another name is refused, with the one that was probably
// meant. Names are generated from those that there are.
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { HexcodesClient } from '#dist/hexcodes/client/node.js';
import { cover, findPlaces, suggest } from '#dist/hexcodes/geometry.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { openWorld } from '../../support/open-world.js';

interface Call {
  readonly name: string;
  readonly known: readonly string[];
  /** Options without which the call is refused for another reason. */
  readonly base?: object;
  readonly run: (options: object) => unknown;
}

const ENCODE = ['resolution', 'former', 'certainty'];
const STREAM = ['operation', 'source', 'framePoints', 'maxAttempts', 'answerTimeoutMs', 'signal'];
const BULK = ['operation', 'source', 'format', 'answerFormat', 'prefix', 'isGzipped', 'signal'];
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [105.8, 21],
      [105.9, 21],
      [105.9, 21.1],
      [105.8, 21],
    ],
  ],
} as const;

let library: Hexcodes;
const client = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1', retries: 0 });
const CALLS: readonly Call[] = [
  { name: 'encode', known: ENCODE, run: (options) => library.encode(21, 105, options) },
  {
    name: 'encodeBatch',
    known: ['resolution'],
    run: (options) => library.encodeBatch(Float64Array.of(21, 105), options),
  },
  { name: 'suggest', known: ['near', 'limit'], run: (options) => suggest(library, 'x', options) },
  { name: 'findPlaces', known: ['near', 'limit'], run: (options) => findPlaces(library, 'x', options) },
  {
    name: 'cover',
    known: ['resolution', 'cells', 'compact'],
    base: { resolution: 5 },
    run: (options) => cover(library, SQUARE, options as { resolution: number }),
  },
  {
    name: 'HexcodesClient',
    known: ['baseUrl', 'apiKey', 'timeoutMs', 'retries', 'fetch', 'WebSocket'],
    base: { baseUrl: 'http://127.0.0.1:9/v1' },
    run: (options) => new HexcodesClient(options as { baseUrl: string }),
  },
  { name: 'encode', known: [...ENCODE, 'signal'], run: (options) => client.encode(21, 105, options) },
  { name: 'encodeBatch', known: [...ENCODE, 'signal'], run: (options) => client.encodeBatch([], options) },
  { name: 'decode', known: ['signal'], run: (options) => client.decode('x', options) },
  { name: 'decodeBatch', known: ['signal'], run: (options) => client.decodeBatch([], options) },
  { name: 'read', known: ['signal'], run: (options) => client.read('x', options) },
  { name: 'adminUnits', known: ['signal'], run: (options) => client.adminUnits(options) },
  { name: 'adminUnit', known: ['signal'], run: (options) => client.adminUnit('HN', options) },
  { name: 'meta', known: ['signal'], run: (options) => client.meta(options) },
  { name: 'suggest', known: ['near', 'limit', 'signal'], run: (options) => client.suggest('x', options) },
  {
    name: 'bulk',
    known: [...BULK, ...ENCODE],
    base: { operation: 'encode', format: 'csv', source: [''] },
    run: (options) => client.bulk(options as never),
  },
  {
    name: 'bulk of decode',
    known: BULK,
    base: { operation: 'decode', format: 'csv', source: [''] },
    run: (options) => client.bulk(options as never),
  },
  {
    name: 'stream',
    known: [...STREAM, 'output', 'resolution'],
    base: { operation: 'encode' },
    run: (options) => client.stream(options as never),
  },
  {
    name: 'stream of decode',
    known: STREAM,
    base: { operation: 'decode' },
    run: (options) => client.stream(options as never),
  },
];

beforeAll(() => {
  library = Hexcodes.from(openWorld());
});

async function faultOf(
  { run, base }: Call,
  options: object,
): Promise<{ code?: string; message: string } | null> {
  try {
    await run({ ...base, ...options });
    return null;
  } catch (error) {
    return error as { code?: string; message: string };
  }
}

/** Slips of a name that leave no doubt: another case, another style, a letter less, more or wrong, two exchanged. */
const slipOf = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      name.toUpperCase(),
      `${name}[]`,
      name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
    ),
    fc.nat(name.length - 1).map((at) => name.slice(0, at) + name.slice(at + 1)),
    fc.nat(name.length).map((at) => `${name.slice(0, at)}z${name.slice(at)}`),
    fc.nat(name.length - 1).map((at) => `${name.slice(0, at)}z${name.slice(at + 1)}`),
    fc.nat(name.length - 2).map((at) => name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2)),
  );

test.each(CALLS.map((call) => [`${call.name}: ${call.known.join(', ')}`, call] as const))(
  'a slip in a name is refused and the name is said: %s',
  async (_, call) => {
    const slips = fc.constantFrom(...call.known).chain((name) => fc.tuple(fc.constant(name), slipOf(name)));
    await fc.assert(
      fc.asyncProperty(slips, async ([name, slip]) => {
        fc.pre(!call.known.includes(slip));
        const fault = await faultOf(call, { [slip]: 9 });
        expect(fault).toMatchObject({ code: 'BAD_ARGUMENT' });
        expect(fault!.message).toMatch(`${call.name} has no option ${slip}; perhaps ${name}. It has `);
        for (const each of call.known) expect(fault!.message).toContain(each);
      }),
      { numRuns: 30 },
    );
  },
);

test.each(CALLS.map((call) => [`${call.name}: ${call.known.join(', ')}`, call] as const))(
  'any other name is refused, and one without a value is none: %s',
  async (_, call) => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), async (name) => {
        fc.pre(!call.known.includes(name) && name !== '__proto__');
        const options = Object.fromEntries([[name, 1]]);
        expect(await faultOf(call, options)).toMatchObject({ code: 'BAD_ARGUMENT' });
      }),
      { numRuns: 30 },
    );
    const fault = await faultOf(call, { of_another_version: undefined });
    expect(fault?.message ?? '').not.toContain('has no option');
  },
);

test('short forms that people use', async () => {
  const said = (options: object): string => {
    try {
      library.encode(21, 105, options);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  for (const name of ['res', 'level', 'zoom', 'precision', 'Resolution'])
    expect(said({ [name]: 9 })).toMatch(`no option ${name}; perhaps resolution`);
  expect(said({ foo: 9 })).toBe('encode has no option foo. It has resolution, former, certainty');
});

test('a value that is none of those of its option is refused', () => {
  for (const [run, message] of [
    [() => library.encode(21, 105, { former: 1 as never }), 'former is true or false, not 1'],
    [() => library.encode(21, 105, { certainty: 'yes' as never }), 'certainty is true or false, not "yes"'],
    [() => library.encode(21, 105, [] as never), 'not an array'],
    [() => suggest(library, 'x', { limit: -1 }), 'limit -1'],
    [() => suggest(library, 'x', { limit: '3' as never }), 'limit 3'],
    [() => findPlaces(library, 'x', { near: ['21', 105] as never }), 'A position is'],
    [() => cover(library, SQUARE, { resolution: 5, compact: 1 as never }), 'compact is true or false'],
    [() => cover(library, SQUARE, { resolution: 5, cells: 'toString' as never }), "cells is 'touch'"],
    [() => cover(library, SQUARE, undefined as never), 'is an object'],
    [
      () => library.decodeBatch(new Uint8Array(20), { latLng: new Float64Array(2), resolutions: 1 } as never),
      'The out of decodeBatch has no option resolutions; perhaps resolution',
    ],
  ] as const)
    expect(run).toThrow(message);
  expect(findPlaces(library, 'Huế', { near: { lat: 16.46, lng: 107.59 } })).toEqual(
    findPlaces(library, 'Huế', { near: [16.46, 107.59] }),
  );
});
