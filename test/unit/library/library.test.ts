// The library: encode, decode, their options, and batches.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import * as library from '#hexcodes';
import { ADMIN_UNITS, Hexcodes, HexcodesError } from '#hexcodes';
import * as client from '#hexcodes/client';
import { HexcodesClient } from '#hexcodes/client';
import * as geometry from '#hexcodes/geometry';
import { CellSet, cellCollection, cover, findPlaces, suggest } from '#hexcodes/geometry';
import { openWorld, openWorldAdmin, randomFrom } from '../../support/open-world.js';

// Tests of the library share this: random positions, and the code of the error that a call throws.

/** The code of the HexcodesError that a call throws; `no error` if it throws none. */
function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(HexcodesError);
    expect((error as HexcodesError).message).toMatch(/^[A-Z].+/);
    return (error as HexcodesError).code;
  }
  return 'no error';
}

test('exported tables, and tables of a kernel, are frozen with all they hold', async () => {
  const { kernel } = await Hexcodes.load();
  const entries = [library, geometry, client].flatMap((entry) => Object.values(entry));
  const tables = [...entries, kernel.formerProvinces, kernel.meta, kernel.bands];
  const loose = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null
      ? [...(Object.isFrozen(value) ? [] : [value]), ...Object.values(value).flatMap(loose)]
      : [];
  expect(tables.flatMap(loose)).toEqual([]);
  expect(() => (ADMIN_UNITS[0]!.mergedUnits as string[]).push('x')).toThrow(TypeError);
});

test('a wrong value gives a HexcodesError that names it', async () => {
  const loaded = await Hexcodes.load();
  for (const wrong of [undefined, null, 5, 'x', true, [], () => {}, 5n] as never[]) {
    expect(codeOf(() => Hexcodes.from(wrong))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => new Hexcodes(wrong))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => new CellSet(wrong, []))).toBe('BAD_ARGUMENT');
    if (Array.isArray(wrong)) continue;
    expect(codeOf(() => new CellSet(loaded, wrong))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => cellCollection(loaded, wrong))).toBe('BAD_ARGUMENT');
    for (const name of ['kernel', 'index', 'reach'])
      expect([name, codeOf(() => Hexcodes.from({ ...openWorld(), [name]: wrong }))]).toEqual([
        name,
        'BAD_DATA',
      ]);
  }
});

/** lat, lng, lat, lng, … in degrees, in and around Viet Nam. */
function randomPositions(count: number, seed: number): Float64Array {
  const random = randomFrom(seed);
  return Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 8 + 15 * random() : 102 + 14 * random(),
  );
}

// The library over the made-up boundaries of open-world.ts: single calls, error codes, wrong arguments.
describe('single calls', () => {
  const HOAN_KIEM = [21.0288, 105.8525] as const;

  let hexcodes: Hexcodes;
  beforeAll(() => {
    hexcodes = Hexcodes.from(openWorld());
  });

  describe('encode', () => {
    test('answers the fields of the contract, resolution 13 if none is given', () => {
      const admin_code = ADMIN_UNITS[openWorldAdmin(...HOAN_KIEM)]?.code as string;
      const answer = hexcodes.encode(...HOAN_KIEM);
      expect(answer).toEqual({
        hexcodes: expect.stringMatching(new RegExp(`^${admin_code}-6GHP4-83RF.$`)),
        lat: 21.0288,
        lng: 105.8525,
        resolution: 13,
        admin_code,
      });
      expect(Object.keys(answer)).toEqual(['hexcodes', 'lat', 'lng', 'resolution', 'admin_code']);
    });

    test('echoes the numbers of the call unchanged', () => {
      const answer = hexcodes.encode(21.02880000000001, 105.85250000000002, 0);
      expect([answer.lat, answer.lng, answer.resolution]).toEqual([21.02880000000001, 105.85250000000002, 0]);
    });

    test.each([-1, 16, 13.5, Number.NaN, Infinity, '13' as unknown as number, null as unknown as number])(
      'resolution %s is BAD_RESOLUTION',
      (resolution) => {
        expect(codeOf(() => hexcodes.encode(...HOAN_KIEM, resolution))).toBe('BAD_RESOLUTION');
        expect(codeOf(() => hexcodes.encodeBatch(new Float64Array(2), resolution))).toBe('BAD_RESOLUTION');
      },
    );

    test.each([
      [Number.NaN, 105],
      [21, Number.NaN],
      [Infinity, 105],
      [21, -Infinity],
      [90.000001, 105],
      [-90.000001, 105],
      [21, 180.000001],
      [21, -180.000001],
      ['21' as unknown as number, 105],
      [21, undefined as unknown as number],
    ])('%s, %s is NOT_A_COORDINATE', (lat, lng) => {
      expect(codeOf(() => hexcodes.encode(lat, lng))).toBe('NOT_A_COORDINATE');
    });

    test.each([
      [90, 180],
      [-90, -180],
      [0, 0],
      [-0, -0],
      [4.9999, 105],
      [25.0001, 105],
      [21, 99.9999],
      [21, 119.0001],
    ])('%s, %s is OUTSIDE_COVERAGE', (lat, lng) => {
      expect(codeOf(() => hexcodes.encode(lat, lng))).toBe('OUTSIDE_COVERAGE');
      expect(codeOf(() => hexcodes.encode(lat, lng, 0))).toBe('OUTSIDE_COVERAGE');
    });
  });

  describe('the third argument of encode and encodeBatch', () => {
    test('is the resolution or options with it, as the client takes them', () => {
      expect(hexcodes.encode(...HOAN_KIEM, { resolution: 7 })).toEqual(hexcodes.encode(...HOAN_KIEM, 7));
      for (const none of [{}, { resolution: undefined } as object])
        expect(hexcodes.encode(...HOAN_KIEM, none)).toEqual(hexcodes.encode(...HOAN_KIEM));
      const positions = Float64Array.of(...HOAN_KIEM);
      expect(hexcodes.encodeBatch(positions, { resolution: 7 })).toEqual(hexcodes.encodeBatch(positions, 7));
      expect(codeOf(() => hexcodes.encode(...HOAN_KIEM, { resolution: 16 }))).toBe('BAD_RESOLUTION');
    });
  });

  test('an argument too many is refused, where it would be ignored without a word', () => {
    // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
    const wrong = hexcodes as any;
    expect(codeOf(() => wrong.encode(...HOAN_KIEM, 9, 3))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => wrong.encodeBatch(Float64Array.of(...HOAN_KIEM), 9, new Uint8Array(20), 3))).toBe(
      'BAD_ARGUMENT',
    );
    // Callbacks of map get an index and the array, too.
    expect(['x', 'y'].map(hexcodes.decode, hexcodes)).toEqual([null, null]);
  });

  describe('decode', () => {
    test('null and false for anything that is not a hexcode, of any type', () => {
      for (const text of [
        '',
        'HN',
        'HN-6GHMK-53FMG',
        'x'.repeat(100_000),
        '\ud83d\ude00',
        null,
        undefined,
        7,
        {},
        [],
      ]) {
        expect(hexcodes.decode(text as string)).toBeNull();
        expect(hexcodes.read(text as string)).toBeNull();
        expect(hexcodes.isValid(text as string)).toBe(false);
      }
    });

    test('undoes encode: the same code at the same resolution, the centre within the cell', () => {
      const positions = randomPositions(2_000, 5);
      for (let n = 0; n < positions.length / 2; n++) {
        const [lat, lng] = [positions[2 * n] as number, positions[2 * n + 1] as number];
        if (codeOf(() => hexcodes.encode(lat, lng, n % 16)) !== 'no error') continue;
        const { hexcodes: code, admin_code } = hexcodes.encode(lat, lng, n % 16);
        const decoded = hexcodes.decode(code);
        expect(decoded).toMatchObject({ resolution: n % 16, admin_code });
        const again = hexcodes.kernel.exports.cellOf(decoded?.lat as number, decoded?.lng as number, n % 16);
        // The centre of a coarse cell may lie outside the area that the kernel knows.
        if (n % 16 > 3) expect(again).toBe(hexcodes.read(code)?.cell);
        expect(Object.keys(decoded as object)).toEqual(['lat', 'lng', 'resolution', 'admin_code']);
      }
    });
  });

  describe('pack and adminCodeOf', () => {
    test('null where there is no code', () => {
      const cell = 0x8d415cb4520b53fn;
      expect(hexcodes.pack(cell, 'HN')).toBe('HN-6GHMK-53FMF');
      expect(hexcodes.pack(cell, 'XX')).toBeNull();
      expect(hexcodes.pack(cell, 'hn')).toBeNull();
      expect(hexcodes.pack(0n, 'HN')).toBeNull();
      expect(hexcodes.pack(-1n, 'HN')).toBeNull();
      for (let bit = 0n; bit < 64n; bit++) {
        // One bit changed: another cell, or no cell, which must have no code.
        const text = hexcodes.pack(cell ^ (1n << bit), 'HN');
        if (text !== null) expect(hexcodes.read(text)?.cell).toBe(cell ^ (1n << bit));
      }
      // A pentagon's child, a cell that no head covers, a deleted digit, a directed edge.
      for (const other of [
        0x81083ffffffffffn,
        0x81407ffffffffffn & ~0n,
        0x8d415cb4520b57fn,
        0x1140000000000000n,
      ])
        if (hexcodes.read(hexcodes.pack(other, 'HN') ?? '') === null)
          expect(hexcodes.pack(other, 'HN')).toBeNull();
    });

    test('the province of a position', () => {
      expect(hexcodes.adminCodeOf(...HOAN_KIEM)).toBe(ADMIN_UNITS[openWorldAdmin(...HOAN_KIEM)]?.code);
      for (const [lat, lng] of [
        [0, 0],
        [Number.NaN, 105],
        [Infinity, 105],
        [1e300, -1e300],
        [21.0288, 1e10],
      ] as const)
        expect(hexcodes.adminCodeOf(lat, lng)).toBeNull();
    });
  });

  test('with a reach that allows nothing, decode refuses every code and encode returns none', () => {
    const { kernel, index } = openWorld();
    const reach = new Uint8Array(16);
    reach.set(openWorld().reach.subarray(0, 8));
    const closed = Hexcodes.from({ kernel, index, reach });
    expect(codeOf(() => closed.encode(...HOAN_KIEM))).toBe('OUTSIDE_COVERAGE');
    expect(closed.isValid('HN-6GHMK-53FMF')).toBe(false);
    expect(closed.pack(0x8d415cb4520b53fn, 'HN')).toBeNull();
    expect(closed.encodeBatch(Float64Array.of(...HOAN_KIEM))[19]).toBe(1);
  });

  test('positions and cells of other types are refused, and -0 is resolution 0', () => {
    // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
    const loose = hexcodes as any;
    expect(loose.adminCodeOf('21.0288', '105.8525')).toBeNull();
    expect(loose.adminCodeOf(21n, 105n)).toBeNull();
    expect(hexcodes.encode(...HOAN_KIEM, -0).resolution).toBe(0);
    const { cell, admin_code } = hexcodes.read(hexcodes.encode(...HOAN_KIEM).hexcodes) as {
      cell: bigint;
      admin_code: string;
    };
    expect(hexcodes.pack(cell, admin_code)).toBe(hexcodes.encode(...HOAN_KIEM).hexcodes);
    expect(hexcodes.pack(cell + 2n ** 64n, admin_code)).toBeNull();
    expect(hexcodes.pack(cell - 2n ** 64n, admin_code)).toBeNull();
    expect(loose.pack(Number(cell), admin_code)).toBeNull();
  });

  test('an index or reach that is not a Uint8Array is BAD_DATA', () => {
    const world = openWorld();
    for (const given of [undefined, null, 'HXIX', world.index.slice().buffer])
      for (const name of ['index', 'reach'])
        expect(codeOf(() => Hexcodes.from({ ...world, [name]: given }))).toBe('BAD_DATA');
  });
});

// Options of every call of the library and its client: one of another name is refused, with the one that was probably
// meant. Names are generated from those that there are.
describe('options', () => {
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

  /**
   * Slips of a name that leave no doubt: another case, another style, a letter less, more or wrong, two exchanged.
   */
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

  test('short forms that people use', () => {
    for (const name of ['res', 'level', 'zoom', 'precision', 'Resolution'])
      expect(() => library.encode(21, 105, { [name]: 9 })).toThrow(`perhaps resolution`);
  });

  test('a value that its option does not list is refused', () => {
    for (const run of [
      () => library.encode(21, 105, { former: 1n as never }),
      () => library.encode(21, 105, { former: null as never }),
      () => cover(library, SQUARE, { resolution: 5, cells: 'toString' as never }),
      () => cover(library, SQUARE, undefined as never),
      () => library.decodeBatch(new Uint8Array(20), { latLng: new Float64Array(2), resolutions: 1 } as never),
    ])
      expect(run).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
    expect(codeOf(() => library.encodeBatch(new Float64Array(2), { resolution: null as never }))).toBe(
      'BAD_RESOLUTION',
    );
    for (const options of [
      [],
      { resolution: null },
      new Map([['resolution', 9]]),
      new Number(9),
      new Date(9),
    ] as never[])
      expect(codeOf(() => library.encode(21, 105, options))).toBe('BAD_RESOLUTION');
    expect(codeOf(() => library.decodeBatch(new Uint8Array(20), null as never))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => findPlaces(library, 'x', { near: ['21', 105] as never }))).toBe('NOT_A_COORDINATE');
    expect(findPlaces(library, 'Huế', { near: { lat: 16.46, lng: 107.59 } })).toEqual(
      findPlaces(library, 'Huế', { near: [16.46, 107.59] }),
    );
  });
});

// encodeBatch, decodeBatch and the kernel's batch calls, over the made-up boundaries of open-world.ts.
describe('batches', () => {
  const HOAN_KIEM = [21.0288, 105.8525] as const;
  const BLOCK = 4096;
  /** SHA-256 of the answers to 65,536 positions; recorded on Node 20, the same on Node 22. */
  const DIGEST = 'b997357177c58a456c80351ab0a3ac6a9fb8151c2c5028d3044c8c4bebfb41ba';

  let hexcodes: Hexcodes;
  beforeAll(() => {
    hexcodes = Hexcodes.from(openWorld());
  });

  test.each([0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])(
    '%i points are as %i single ones',
    (count) => {
      const positions = randomPositions(count, count);
      for (const resolution of [0, 7, 13, 15]) {
        const records = hexcodes.encodeBatch(positions, resolution);
        expect(records).toHaveLength(20 * count);
        const { latLng, resolution: resolutions, status } = hexcodes.decodeBatch(records);
        expect([latLng.length, resolutions.length, status.length]).toEqual([2 * count, count, count]);
        for (let n = 0; n < count; n += 1 + Math.floor(count / 300)) {
          const record = records.subarray(20 * n, 20 * n + 20);
          const text = new TextDecoder().decode(record.subarray(0, 19)).replace(/\0+$/, '');
          const [lat, lng] = [positions[2 * n] as number, positions[2 * n + 1] as number];
          const single = codeOf(() => hexcodes.encode(lat, lng, resolution));
          if (single === 'no error') {
            expect(text).toBe(hexcodes.encode(lat, lng, resolution).hexcodes);
            expect([record[19], status[n]]).toEqual([0, 0]);
            const decoded = hexcodes.decode(text);
            expect([latLng[2 * n], latLng[2 * n + 1], resolutions[n]]).toEqual([
              decoded?.lat,
              decoded?.lng,
              decoded?.resolution,
            ]);
          } else {
            expect([text, record[19], status[n], resolutions[n]]).toEqual(['', 1, 3, 255]);
            expect(latLng[2 * n]).toBeNaN();
          }
        }
      }
    },
  );

  test('never throw for a point; its status says the failure', () => {
    const records = hexcodes.encodeBatch(
      Float64Array.of(...HOAN_KIEM, 0, 0, Number.NaN, 105, 21, Infinity, 91, 0, ...HOAN_KIEM),
    );
    expect([0, 1, 2, 3, 4, 5].map((n) => records[20 * n + 19])).toEqual([0, 1, 2, 2, 2, 0]);
    expect(records.subarray(20, 39).every((byte) => byte === 0)).toBe(true);
    expect(records.subarray(0, 20)).toEqual(records.subarray(100, 120));
  });

  test("fill the caller's arrays, and only the needed part", () => {
    const positions = randomPositions(10, 1);
    const out = new Uint8Array(300).fill(7);
    const records = hexcodes.encodeBatch(positions, 13, out);
    expect(records.buffer).toBe(out.buffer);
    expect(records).toHaveLength(200);
    expect(out.subarray(200).every((byte) => byte === 7)).toBe(true);
    const into = {
      latLng: new Float64Array(21).fill(7),
      resolution: new Uint8Array(11).fill(7),
      status: new Uint8Array(10),
    };
    const decoded = hexcodes.decodeBatch(records, into);
    expect(decoded.latLng.buffer).toBe(into.latLng.buffer);
    expect([into.latLng[20], into.resolution[10]]).toEqual([7, 7]);
  });

  test('wrong lengths are BAD_ARGUMENT', () => {
    expect(codeOf(() => hexcodes.encodeBatch(new Float64Array(3)))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => hexcodes.encodeBatch(new Float64Array(4), 13, new Uint8Array(39)))).toBe(
      'BAD_ARGUMENT',
    );
    expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(19)))).toBe('BAD_ARGUMENT');
    const small = {
      latLng: new Float64Array(1),
      resolution: new Uint8Array(1),
      status: new Uint8Array(1),
    };
    expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(20), small))).toBe('BAD_ARGUMENT');
    const otherNames = {
      latLngDeg: new Float64Array(2),
      resolution: new Uint8Array(1),
      status: new Uint8Array(1),
    };
    expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(20), otherNames as never))).toBe('BAD_ARGUMENT');
  });

  test('arrays of other kinds and arrays that share bytes are BAD_ARGUMENT', () => {
    // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
    const loose = hexcodes as any;
    const positions = Float64Array.of(...HOAN_KIEM);
    const records = hexcodes.encodeBatch(positions);
    for (const given of [
      [...HOAN_KIEM],
      Float32Array.of(...HOAN_KIEM),
      new BigInt64Array(2),
      undefined,
      null,
    ])
      expect(codeOf(() => loose.encodeBatch(given))).toBe('BAD_ARGUMENT');
    for (const out of [[], new Uint16Array(20), new ArrayBuffer(20), 20, null])
      expect(codeOf(() => loose.encodeBatch(positions, 13, out))).toBe('BAD_ARGUMENT');
    for (const given of [[...records], 'HN-6GHMK-53FMF      ', Uint16Array.from(records), undefined, null])
      expect(codeOf(() => loose.decodeBatch(given))).toBe('BAD_ARGUMENT');

    const [gone, goneBytes] = [new Float64Array(2), new Uint8Array(20)];
    for (const { buffer } of [gone, goneBytes]) structuredClone(buffer, { transfer: [buffer] });
    for (const call of [
      () => hexcodes.encodeBatch(gone),
      () => hexcodes.encodeBatch(new Float64Array(0), 13, goneBytes),
      () => hexcodes.borderBatch(gone),
      () => hexcodes.codes(goneBytes),
      () => hexcodes.decodeBatch(goneBytes),
    ])
      expect(codeOf(call)).toBe('BAD_ARGUMENT');

    const shared = new ArrayBuffer(80);
    const inPlace = new Float64Array(shared, 0, 4);
    expect(codeOf(() => hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared)))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared, 31, 40)))).toBe(
      'BAD_ARGUMENT',
    );
    expect(hexcodes.encodeBatch(inPlace, 13, new Uint8Array(shared, 32))).toHaveLength(40);
    const status = new Uint8Array(shared, 19, 1);
    const out = { latLng: new Float64Array(2), resolution: new Uint8Array(1), status };
    expect(codeOf(() => hexcodes.decodeBatch(new Uint8Array(shared, 0, 20), out))).toBe('BAD_ARGUMENT');
    // Arrays that share bytes with one another: the second answer would overwrite the first.
    for (const [resolutionAt, statusAt] of [
      [19, 19],
      [15, 19],
      [19, 0],
    ] as const) {
      const latLng = new Float64Array(shared, 0, 2);
      const bytes = (at: number) => new Uint8Array(shared, at, 1);
      const together = { latLng, resolution: bytes(resolutionAt), status: bytes(statusAt) };
      expect(codeOf(() => hexcodes.decodeBatch(records, together))).toBe('BAD_ARGUMENT');
    }
  });

  test('arrays over shared memory, at odd offsets and of subclasses are accepted', () => {
    const positions = new Float64Array(new SharedArrayBuffer(32), 8, 2);
    positions.set(HOAN_KIEM);
    const expected = hexcodes.encodeBatch(Float64Array.of(...HOAN_KIEM));
    const out = new Uint8Array(new SharedArrayBuffer(64), 3, 20);
    expect([...hexcodes.encodeBatch(positions, 13, out)]).toEqual([...expected]);
    expect([...hexcodes.encodeBatch(positions, 13, Buffer.alloc(25))]).toEqual([...expected]);
    expect(hexcodes.decodeBatch(out).status[0]).toBe(0);
  });

  test('the answers to 65,536 positions have the recorded digest on every Node', () => {
    const positions = randomPositions(65_536, 2026);
    const hash = createHash('sha256');
    for (let resolution = 0; resolution <= 15; resolution++) {
      const records = hexcodes.encodeBatch(positions, resolution);
      const { latLng, resolution: resolutions, status } = hexcodes.decodeBatch(records);
      for (const bytes of [records, new Uint8Array(latLng.buffer), resolutions, status]) hash.update(bytes);
    }
    expect(hash.digest('hex')).toBe(DIGEST);
  });

  test('codes gives the strings of a batch, each as encode gives it, null where a point failed', () => {
    for (let resolution = 0; resolution <= 15; resolution++) {
      const positions = randomPositions(BLOCK + 3, 100 + resolution);
      const codes = hexcodes.codes(hexcodes.encodeBatch(positions, resolution));
      expect(codes).toHaveLength(BLOCK + 3);
      for (let n = 0; n < codes.length; n += 7) {
        const [lat, lng] = [positions[2 * n] as number, positions[2 * n + 1] as number];
        const status = codeOf(() => hexcodes.encode(lat, lng, resolution));
        expect(codes[n]).toBe(status === 'no error' ? hexcodes.encode(lat, lng, resolution).hexcodes : null);
      }
    }
  });

  test('codes reads texts of any length, and refuses what are not records', () => {
    for (let length = 0; length < 20; length++) {
      const record = new Uint8Array(20);
      const text = 'ABCDEFGHIJKLMNOPQRS'.slice(0, length);
      new TextEncoder().encodeInto(text, record);
      expect(hexcodes.codes(record)).toEqual([text]);
    }
    expect(hexcodes.codes(new Uint8Array(0))).toEqual([]);
    expect(codeOf(() => hexcodes.codes(new Uint8Array(19)))).toBe('BAD_ARGUMENT');
    expect(codeOf(() => hexcodes.codes(new Float64Array(20) as never))).toBe('BAD_ARGUMENT');
  });
});
