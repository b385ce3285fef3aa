// Areas as lists of codes: which cells cover an area, whether positions lie in them, disks of cells, and codes without
// their beginning.
import {
  cellToLatLng,
  gridDisk as h3Disk,
  latLngToCell,
  POLYGON_TO_CELLS_FLAGS as MODES,
  polygonToCellsExperimental,
} from 'h3-js';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  type Area,
  boundary,
  CellSet,
  cover,
  gridDisk,
  lengthen,
  neighbors,
  shorten,
} from '#hexcodes/geometry';
import { randomFrom } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';

const library = new Hexcodes(shippedKernel());
const coded = (code: string) => expect.objectContaining({ code });
const cellOf = (code: string): string => library.read(code)!.cell.toString(16);

/** A star around Hà Nội with a hole, and a square. */
const STAR: Area = {
  type: 'MultiPolygon',
  coordinates: [
    [star(21.03, 105.85, 0.2), [...star(21.03, 105.85, 0.04)].reverse()],
    [
      [
        [106.0, 20.8],
        [106.1, 20.8],
        [106.1, 20.9],
        [106.0, 20.9],
        [106.0, 20.8],
      ],
    ],
  ],
};

function star(lat: number, lng: number, size: number): number[][] {
  const ring = Array.from({ length: 10 }, (_, i) => {
    const [angle, far] = [(i * Math.PI) / 5, i % 2 === 0 ? size : size / 2];
    return [lng + far * Math.cos(angle), lat + far * Math.sin(angle)];
  });
  return [...ring, ring[0]!];
}

/** Whether a position is in the area, by the rule of even and odd crossings, in degrees. */
function isInArea(lat: number, lng: number): boolean {
  const isIn = (ring: readonly (readonly number[])[]): boolean => {
    let inside = false;
    for (let i = 1; i < ring.length; i++) {
      const [[x0, y0], [x1, y1]] = [ring[i - 1] as [number, number], ring[i] as [number, number]];
      if (y0 > lat !== y1 > lat && lng < x0 + ((x1 - x0) * (lat - y0)) / (y1 - y0)) inside = !inside;
    }
    return inside;
  };
  return (STAR.coordinates as readonly (readonly (readonly number[])[])[][]).some(
    ([outer, ...holes]) => isIn(outer!) && !holes.some(isIn),
  );
}

/** Positions around both parts of the area. */
function positions(seed: number, count: number): [number, number][] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => [20.7 + random() * 0.6, 105.6 + random() * 0.6]);
}

describe('cover', () => {
  const touching = cover(library, STAR, { resolution: 8 });

  test('cells that touch the area hold all its points', () => {
    const set = new CellSet(library, touching);
    let inside = 0;
    for (const [lat, lng] of positions(1, 20_000)) {
      if (!isInArea(lat, lng)) continue;
      inside++;
      expect(set.has([lat, lng]), `${lat},${lng}`).toBe(true);
    }
    expect(inside).toBeGreaterThan(3000);
  });

  test('a hole within one cell leaves that cell in, wherever the hole lies', () => {
    const ring = (x: number, y: number, half: number): number[][] =>
      [-1, 1, 1, -1, -1].map((side, i) => [x + side * half, y + (i === 2 || i === 3 ? half : -half)]);
    const random = randomFrom(3);
    for (let n = 0; n < 200; n++) {
      const resolution = Math.floor(random() * 14) + 2;
      const cell = latLngToCell(12 + random() * 0.5, 108 + random() * 0.5, resolution);
      const [y, x] = cellToLatLng(cell);
      const radius = 10 / 7 ** (resolution / 2);
      // Holes around the centre, and every second one beside it.
      const aside = n % 2 === 0 ? 0 : radius * 0.2 * random();
      const hole = ring(x + aside, y, radius * (0.01 + 0.15 * random()));
      const coordinates = [ring(x, y, 3 * radius), hole];
      const codes = cover(library, { type: 'Polygon', coordinates }, { resolution });
      const whole = cover(library, { type: 'Polygon', coordinates: [coordinates[0]!] }, { resolution });
      expect(codes, JSON.stringify(coordinates)).toEqual(whole);
    }
  });

  test('areas of any form and size have the cells that H3 finds, in each mode', () => {
    const random = randomFrom(11);
    for (let n = 0; n < 400; n++) {
      const resolution = Math.floor(random() * 16);
      const size = Math.min(60, 0.24 * 7 ** (-resolution / 2) * 1500 ** random());
      const [x, y] = [107 + random() * 3, 12 + random() * 4];
      // Stars, and rings that cross themselves; a hole within the star.
      const ring = (reach: number, least: number): number[][] => {
        const count = 3 + Math.floor(random() * 30);
        const corners = Array.from({ length: count }, (_, i) => {
          const [angle, far] = [(2 * Math.PI * i) / count, reach * (least + (1 - least) * random())];
          return [x + far * Math.cos(angle), y + far * Math.sin(angle)];
        });
        return [...corners, corners[0]!];
      };
      const outer = ring(size, n % 4 === 0 ? -1 : 0.5);
      const coordinates = n % 2 === 0 ? [outer] : [outer, ring(size * 0.2, 0.3).reverse()];
      for (const [cells, mode] of [
        ['touch', MODES.containmentOverlapping],
        ['center', MODES.containmentCenter],
        ['inside', MODES.containmentFull],
      ] as const) {
        const found = new Set(polygonToCellsExperimental(coordinates, resolution, mode, true));
        // H3 leaves out a cell around a hole that holds its centre.
        const [lng, lat] = coordinates.at(-1)![0] as [number, number];
        if (cells === 'touch') found.add(latLngToCell(lat, lng, resolution));
        const own = cover(library, { type: 'Polygon', coordinates }, { resolution, cells }).map(cellOf);
        // Abroad there are no codes.
        const abroad = [...found].filter(
          (cell) =>
            !own.includes(cell) && library.adminCodeOf(...(cellToLatLng(cell) as [number, number])) === null,
        );
        const wanted = [...found].filter((cell) => !abroad.includes(cell)).sort();
        expect(own, `${cells} ${resolution} ${JSON.stringify(coordinates)}`).toEqual(wanted);
      }
    }
  });

  test('the corners of a cell are a part of it and of its neighbours; a hole elsewhere adds no cell', () => {
    const { hexcodes: code } = library.encode(12.7, 108.1, 6);
    const ring = boundary(library, code).map(([lat, lng]) => [lng, lat]);
    const own: Area = { type: 'Polygon', coordinates: [[...ring, ring[0]!]] };
    expect(cover(library, own, { resolution: 6 })).toEqual([code, ...neighbors(library, code)].sort());
    // In the box around the outer ring, and not in the ring.
    const corner = (x: number, y: number) => [108 + x, 12 + y];
    const outer = [corner(0, 0), corner(0.5, 0), corner(0, 0.5), corner(0, 0)];
    const hole = [corner(0.4, 0.4), corner(0.4, 0.5), corner(0.5, 0.4), corner(0.4, 0.4)];
    const [alone, beside] = [[outer], [outer, hole]].map((coordinates) =>
      cover(library, { type: 'Polygon', coordinates }, { resolution: 7 }),
    );
    expect(beside).toEqual(alone);
  });

  test('cells by centre have their centre in the area', () => {
    const centred = new Set(cover(library, STAR, { resolution: 8, cells: 'center' }).map(cellOf));
    const around = h3Disk(latLngToCell(20.95, 105.9, 8), 80);
    expect(around.length).toBeGreaterThan(19_000);
    for (const cell of around) {
      const [lat, lng] = cellToLatLng(cell) as [number, number];
      expect(centred.has(cell), cell).toBe(isInArea(lat, lng));
    }
  });

  test('cells inside have all corners in the area, and are among the cells by centre, which touch it', () => {
    const inside = cover(library, STAR, { resolution: 8, cells: 'inside' });
    const centred = new Set(cover(library, STAR, { resolution: 8, cells: 'center' }));
    for (const code of inside) {
      expect(centred.has(code)).toBe(true);
      for (const [lat, lng] of boundary(library, code)) expect(isInArea(lat, lng)).toBe(true);
    }
    for (const code of centred) expect(touching).toContain(code);
    expect(inside.length).toBeGreaterThan(100);
    expect(centred.size).toBeLessThan(touching.length);
  });

  test('codes are canonical, of the province of their centre, once each, in the order of cells', () => {
    const cells = touching.map(cellOf);
    expect(cells).toEqual([...new Set(cells)].sort());
    for (const code of touching) {
      const { hexcodes, lat, lng, admin_code, resolution } = library.read(code)!;
      expect([hexcodes, resolution, admin_code]).toEqual([code, 8, library.adminCodeOf(lat, lng)]);
    }
  });

  test('compacted: fewer codes, with equal answers everywhere', () => {
    const compacted = cover(library, STAR, { resolution: 9, compact: true });
    const plain = cover(library, STAR, { resolution: 9 });
    expect(compacted.length).toBeLessThan(plain.length / 3);
    const [few, all] = [new CellSet(library, compacted), new CellSet(library, plain)];
    let inside = 0;
    for (const position of positions(2, 20_000)) {
      expect(few.has(position)).toBe(all.has(position));
      if (all.has(position)) inside++;
    }
    expect(inside).toBeGreaterThan(3000);
  });

  test('an area abroad has no codes, one across the border those of its side', () => {
    const square = (lat: number, lng: number): Area => ({
      type: 'Polygon',
      coordinates: [
        [
          [lng, lat],
          [lng + 0.2, lat],
          [lng + 0.2, lat + 0.2],
          [lng, lat + 0.2],
          [lng, lat],
        ],
      ],
    });
    expect(cover(library, square(17.9, 102.6), { resolution: 7 })).toEqual([]);
    const across = cover(library, square(22.4, 103.9), { resolution: 7 });
    expect(across.length).toBeGreaterThan(10);
    expect(across.every((code) => code.startsWith('LCI-'))).toBe(true);
  });

  test('what is not an area, and too many cells', () => {
    for (const wrong of [
      null,
      {},
      { type: 'Point', coordinates: [105, 21] },
      { type: 'Polygon', coordinates: [[[105, 21]]] },
      ...['105', null, [105], Number.NaN, Number.POSITIVE_INFINITY].map((lng) => ({
        type: 'Polygon',
        coordinates: [
          [
            [lng, 21],
            [106, 21],
            [106, 22],
            [lng, 21],
          ],
        ],
      })),
    ])
      expect(() => cover(library, wrong as Area, { resolution: 5 })).toThrow(coded('BAD_ARGUMENT'));
    expect(() => cover(library, STAR, { resolution: 16 })).toThrow(coded('BAD_RESOLUTION'));
    expect(() => cover(library, STAR, { resolution: 15 })).toThrow(coded('BAD_ARGUMENT'));
    // Each part alone has fewer than 2,000,000 cells.
    const square = (west: number) =>
      [0, 0.21, 0.21, 0, 0].map((east, i) => [west + east, i === 2 || i === 3 ? 21.21 : 21]);
    const parts = { type: 'MultiPolygon', coordinates: [[square(105)], [square(105.3)]] } as const;
    expect(() => cover(library, parts, { resolution: 12, cells: 'inside' })).toThrow(coded('BAD_ARGUMENT'));
    expect(() => cover(library, STAR, { resolution: 5, cells: 'all' as 'touch' })).toThrow(
      coded('BAD_ARGUMENT'),
    );
  });
});

test('a set of named cells: the first name of a cell', () => {
  const [own, other] = [
    library.encode(21.0288, 105.8525, 9).hexcodes,
    library.encode(10.7769, 106.7009, 7).hexcodes,
  ];
  const set = new CellSet(library, [
    [own, 'a'],
    [own, 'b'],
    [other, 'c'],
  ]);
  expect([set.size, set.resolution]).toEqual([2, 9]);
  expect(set.nameAt([21.0288, 105.8525])).toBe('a');
  expect(set.nameAt([16, 108])).toBeUndefined();
  expect(new CellSet(library, [[own] as never]).has([21.0288, 105.8525])).toBe(true);
  for (const wrong of ['nope', 5, null, 5n, Symbol('a')] as never[])
    expect(() => new CellSet(library, [wrong])).toThrow(coded('INVALID_HEXCODES'));
  expect(new CellSet(library, []).has([21, 105])).toBe(false);
});

describe('gridDisk', () => {
  test('the code itself, its neighbours, and 1 + 3k(k + 1) codes in all', () => {
    const { hexcodes: code } = library.encode(21.0288, 105.8525, 9);
    expect(gridDisk(library, code, 0)).toEqual([code]);
    expect(gridDisk(library, code, 1).sort()).toEqual([code, ...neighbors(library, code)].sort());
    for (const k of [2, 5, 20]) expect(new Set(gridDisk(library, code, k)).size).toBe(1 + 3 * k * (k + 1));
  });

  test('a number of steps that is none', () => {
    for (const k of [-1, 1.5, 501, Number.NaN])
      expect(() => gridDisk(library, 'HN-6GHP4-83RFR', k)).toThrow(coded('BAD_ARGUMENT'));
  });
});

test('a position abroad, which has no hexcode, is in no zone; where zones overlap the first of the list counts', () => {
  const { hexcodes } = library.encode(22.5, 103.965, 5);
  const [lat, lng] = [22.52, 103.97];
  expect(library.adminCodeOf(lat, lng)).toBeNull();
  expect(latLngToCell(lat, lng, 5)).toBe(cellOf(hexcodes));
  expect(new CellSet(library, [hexcodes]).has([lat, lng])).toBe(false);
  const fine = library.encode(21.0288, 105.8525, 9).hexcodes;
  const coarse = gridDisk(library, library.encode(21.0288, 105.8525, 7).hexcodes, 1);
  const first = new CellSet(library, [...coarse.map((code) => [code, 'a'] as const), [fine, 'b']]);
  const last = new CellSet(library, [[fine, 'b'], ...coarse.map((code) => [code, 'a'] as const)]);
  expect([first.nameAt([21.0288, 105.8525]), last.nameAt([21.0288, 105.8525])]).toEqual(['a', 'b']);
});

describe('at the edge of the coverage', () => {
  const random = randomFrom(37);
  const lines = library.coverageEdges();
  /** Positions with a code some metres from the edge. */
  function nearEdge(count: number): [number, number][] {
    const found: [number, number][] = [];
    while (found.length < count) {
      const line = lines[Math.floor(random() * lines.length)]!;
      const at = 2 * Math.floor(random() * (line.length / 2));
      const position: [number, number] = [
        line[at + 1]! / 1e6 + (random() - 0.5) * 4e-4,
        line[at]! / 1e6 + (random() - 0.5) * 4e-4,
      ];
      if (library.adminCodeOf(...position) !== null) found.push(position);
    }
    return found;
  }

  test.each([3, 4, 5, 7, 9, 11])('no position with a code is missed, resolution %d', (resolution) => {
    for (const [lat, lng] of nearEdge(500)) {
      const ring = star(lat, lng, 1e-5);
      const codes = cover(library, { type: 'Polygon', coordinates: [ring] }, { resolution });
      const own = cellOf(library.encode(lat, lng, resolution).hexcodes);
      expect(codes.map(cellOf), `${lat},${lng}`).toContain(own);
    }
  });

  test('compacting changes no answer', () => {
    for (const [lat, lng] of nearEdge(60)) {
      const area: Area = { type: 'Polygon', coordinates: [star(lat, lng, 0.05)] };
      const [few, all] = [true, false].map(
        (compact) => new CellSet(library, cover(library, area, { resolution: 8, compact })),
      ) as [CellSet, CellSet];
      for (let i = 0; i < 200; i++) {
        const position = [lat + (random() - 0.5) * 0.1, lng + (random() - 0.5) * 0.1] as const;
        expect(few.has(position), position.join()).toBe(all.has(position));
      }
    }
  });
});

describe('codes without their beginning', () => {
  test('what shorten gives, lengthen undoes, for people within two kilometres', () => {
    const random = randomFrom(5);
    let shortened = 0;
    for (let i = 0; i < 200; i++) {
      const [lat, lng] = [
        [21.03, 105.85],
        [10.78, 106.7],
        [16.05, 108.2],
      ][i % 3] as [number, number];
      const at = [lat + random() * 0.1, lng + random() * 0.1] as const;
      const near = [at[0] + random() * 0.02 - 0.01, at[1] + random() * 0.02 - 0.01] as const;
      const { hexcodes } = library.encode(at[0], at[1], 8 + (i % 8));
      const short = shorten(library, hexcodes, near);
      if (short === null) continue;
      shortened++;
      expect(hexcodes.endsWith(`-${short}`)).toBe(true);
      expect(lengthen(library, short, near)).toBe(hexcodes);
      expect(lengthen(library, short.toLowerCase(), near)).toBe(hexcodes);
    }
    expect(shortened).toBeGreaterThan(125);
  });

  test('of single wrong symbols at most one in fifty gives another code', () => {
    const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    const random = randomFrom(4);
    let [tried, wrong] = [0, 0];
    while (tried < 500) {
      const at = [21.03 + random() * 0.1, 105.85 + random() * 0.1] as const;
      const near = [at[0] + 0.005 * random(), at[1]] as const;
      const short = shorten(library, library.encode(at[0], at[1]).hexcodes, near);
      if (short === null) continue;
      const i = Math.floor(random() * short.length);
      const symbol = symbols[Math.floor(random() * 32)]!;
      if (symbol === short[i]) continue;
      tried++;
      if (lengthen(library, short.slice(0, i) + symbol + short.slice(i + 1), near) !== null) wrong++;
    }
    expect(wrong / tried).toBeLessThan(0.02);
  });

  test('far away, mistyped, or with nothing left out', () => {
    expect(lengthen(library, '83RFR', [21.03, 105.85])).toBe('HN-6GHP4-83RFR');
    expect(lengthen(library, '83RFR', [0, 0])).toBeNull();
    expect(lengthen(library, 'HN-6GHP4-83RFR', [21.03, 105.85])).toBeNull();
    expect(lengthen(library, '', [21.03, 105.85])).toBeNull();
    expect(shorten(library, 'HN-6GHP4-R', [21.03, 105.85])).toBeNull();
    expect(shorten(library, 'HN-6GHP4-83RFR', [10.7, 106.7])).toBeNull();
    expect(() => lengthen(library, '83RFR', [Number.NaN, 0])).toThrow(coded('NOT_A_COORDINATE'));
  });
});
