// The library over the made-up boundaries of open-world.ts: single calls, error codes, wrong arguments.

import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { codeOf, randomPositions } from '../../support/library-calls.js';
import { openWorld, openWorldAdmin } from '../../support/open-world.js';

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

describe('messages of encode', () => {
  // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
  const messageOf = (...given: any[]): string => {
    try {
      // biome-ignore lint/suspicious/noExplicitAny: wrong arguments
      (hexcodes.encode as any).apply(hexcodes, given);
    } catch (error) {
      return (error as Error).message;
    }
    return 'no error';
  };

  test('a number that is given as text is called a text', () => {
    expect(messageOf('21.0288', '105.8525')).toBe(
      'Not a position: lat and lng are numbers in degrees, not the text "21.0288" and the text "105.8525"',
    );
    expect(messageOf([21.0288, 105.8525])).toMatch(/not an array and undefined$/);
    expect(messageOf(21.0288, 105.8525, '9')).toBe(
      'A resolution is an integer from 0 to 15, not the text "9"',
    );
    expect(messageOf(21.0288, 105.8525, { resolution: '9' })).toMatch(/not the text "9"$/);
  });

  test('say that latitude and longitude look swapped, where the other way round has a code', () => {
    const hint = 'lat and lng look swapped: the other way round the position lies in Viet Nam';
    expect(messageOf(105.8525, 21.0288)).toBe(
      `Not a position in degrees (lat -90 to 90, lng -180 to 180): lat 105.8525, lng 21.0288. ${hint}`,
    );
    for (const [lat, lng] of [
      [48.8584, 2.2945],
      [91, 181],
      [Number.NaN, 21],
    ])
      expect(messageOf(lat, lng)).not.toContain('swapped');
  });
});

describe('decode', () => {
  test('null and false for anything that is no hexcode, of any type', () => {
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

test('an index or reach that is no Uint8Array is BAD_DATA', () => {
  const world = openWorld();
  for (const given of [undefined, null, 'HXIX', world.index.slice().buffer])
    for (const name of ['index', 'reach'])
      expect(codeOf(() => Hexcodes.from({ ...world, [name]: given }))).toBe('BAD_DATA');
});
