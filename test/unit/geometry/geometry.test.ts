// Geometry against h3-js and a second implementation of the code format, over made-up boundaries in which every
// province occurs and the reach allows every code.

import * as h3 from 'h3-js';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { children, neighbors, parent } from '#dist/hexcodes/geometry/family.js';
import { cellCollection, cellFeature, centerFeature } from '#dist/hexcodes/geometry/geojson.js';
import { area, boundary, distance, edge, radius } from '#dist/hexcodes/geometry/shape.js';
import { suggest } from '#dist/hexcodes/geometry/suggest.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { openWorld, openWorldAdmin, randomFrom } from '../../support/open-world.js';
import { packByPeer } from '../../support/peers/code-format.js';

const hexcodes = Hexcodes.from(openWorld());
const HOAN_KIEM = hexcodes.encode(21.0288, 105.8525).hexcodes;

/** Codes of all resolutions. */
function corpus(count: number, seed: number): { code: string; cell: string; adminCode: string }[] {
  console.log(`geometry corpus: seed ${seed}`);
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, i) => {
    const latDeg = 8 + random() * 15;
    const lngDeg = 102 + random() * 14;
    const { hexcodes: code, admin_code } = hexcodes.encode(latDeg, lngDeg, i % 16);
    return { code, cell: h3.latLngToCell(latDeg, lngDeg, i % 16), adminCode: admin_code };
  });
}

describe('family', () => {
  test('parent and children are those of H3, within the admin code', () => {
    for (const { code, cell, adminCode } of corpus(400, 1)) {
      const resolution = h3.getResolution(cell);
      for (let coarser = 0; coarser <= resolution; coarser++) {
        expect(parent(hexcodes, code, coarser)).toBe(packByPeer(h3.cellToParent(cell, coarser), adminCode));
      }
      if (resolution === 15) continue;
      const expected = h3.cellToChildren(cell, resolution + 1).map((child) => packByPeer(child, adminCode));
      // A cell of resolution 0 has children that no head covers; they have no code.
      expect(children(hexcodes, code)).toEqual(expected.filter((child) => child !== null));
      for (const child of children(hexcodes, code)) expect(parent(hexcodes, child, resolution)).toBe(code);
    }
  });

  test('children are in sort order; two steps of resolution give 49', () => {
    const all = children(hexcodes, parent(hexcodes, HOAN_KIEM, 9), 11);
    expect(all).toHaveLength(49);
    expect([...all].map((code) => code.slice(0, -1)).sort()).toEqual(all.map((code) => code.slice(0, -1)));
    expect(children(hexcodes, HOAN_KIEM, 13)).toEqual([HOAN_KIEM]);
  });

  test('neighbours are the ring of H3, each with the province of its own centre, else that of the code', () => {
    for (const { code, cell, adminCode } of corpus(400, 2)) {
      const ring = h3.gridDisk(cell, 1).filter((each) => each !== cell);
      const expected = ring.map((each) => {
        const [latDeg, lngDeg] = h3.cellToLatLng(each);
        const admin = ADMIN_UNITS[openWorldAdmin(latDeg as number, lngDeg as number)]?.code ?? adminCode;
        return packByPeer(each, admin);
      });
      expect(neighbors(hexcodes, code)).toEqual(expected.filter((each) => each !== null));
    }
  });

  test('wrong arguments throw an error with a code', () => {
    expect(() => parent(hexcodes, 'nonsense')).toThrow(expect.objectContaining({ code: 'INVALID_HEXCODES' }));
    expect(() => parent(hexcodes, HOAN_KIEM, 14)).toThrow(
      expect.objectContaining({ code: 'BAD_RESOLUTION' }),
    );
    expect(() => children(hexcodes, HOAN_KIEM, 12)).toThrow(
      expect.objectContaining({ code: 'BAD_RESOLUTION' }),
    );
    const coarse = parent(hexcodes, HOAN_KIEM, 5);
    expect(() => children(hexcodes, coarse, 13)).toThrow(expect.objectContaining({ code: 'BAD_RESOLUTION' }));
    expect(() => parent(hexcodes, parent(hexcodes, HOAN_KIEM, 0))).toThrow();
  });

  test('neighbors refuses a number of rings, which it would ignore', () => {
    expect(() => neighbors(hexcodes, HOAN_KIEM, ...([2] as never[]))).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT' }),
    );
  });
});

describe('shape', () => {
  test('area and boundary are those of H3', () => {
    for (const { code, cell } of corpus(200, 3)) {
      expect(area(hexcodes, code)).toBe(h3.cellArea(cell, 'm2'));
      expect(boundary(hexcodes, code)).toEqual(h3.cellToBoundary(cell));
      expect(edge(hexcodes, code)).toBeGreaterThan(0);
      expect(radius(hexcodes, code)).toBeGreaterThanOrEqual(edge(hexcodes, code) * 0.8);
    }
  });

  test('encode and decode move a point by at most the radius', () => {
    console.log('seed 4');
    const random = randomFrom(4);
    for (let i = 0; i < 2000; i++) {
      const position = [9 + random() * 13, 103 + random() * 12] as const;
      const { hexcodes: code } = hexcodes.encode(position[0], position[1], i % 16);
      expect(distance(hexcodes, position, code)).toBeLessThanOrEqual(radius(hexcodes, code) * (1 + 1e-9));
    }
  });

  test('distance: Hà Nội to Huế, both ways, codes or positions', () => {
    const hue = hexcodes.encode(16.4637, 107.5909).hexcodes;
    const metres = distance(hexcodes, HOAN_KIEM, hue);
    expect(metres).toBeCloseTo(h3.greatCircleDistance([21.0288, 105.8525], [16.4637, 107.5909], 'm'), -2);
    expect(distance(hexcodes, hue, HOAN_KIEM)).toBeCloseTo(metres, 6);
    expect(distance(hexcodes, HOAN_KIEM, HOAN_KIEM)).toBe(0);
  });
});

describe('positions', () => {
  test('are pairs or objects', () => {
    const { lat, lng } = hexcodes.decode(HOAN_KIEM)!;
    expect(distance(hexcodes, { lat, lng }, [10, 106])).toBe(distance(hexcodes, HOAN_KIEM, [10, 106]));
    const typed = `${HOAN_KIEM.slice(0, -1)}${HOAN_KIEM.endsWith('2') ? '3' : '2'}`;
    expect(suggest(hexcodes, typed, { near: { lat, lng } })).toEqual(
      suggest(hexcodes, typed, { near: [lat, lng] }),
    );
  });

  test('anything else is NOT_A_COORDINATE, and options that are no object are BAD_ARGUMENT', () => {
    for (const given of [[21], ['21', '105'], [Number.NaN, 105], { lat: 21 }, null, '21,105'] as never[]) {
      const expected = expect.objectContaining({ code: 'NOT_A_COORDINATE' });
      if (typeof given !== 'string') expect(() => distance(hexcodes, HOAN_KIEM, given)).toThrow(expected);
      expect(() => suggest(hexcodes, HOAN_KIEM, { near: given })).toThrow(expected);
    }
    for (const given of [5, null, 'near'] as never[])
      expect(() => suggest(hexcodes, HOAN_KIEM, given)).toThrow(
        expect.objectContaining({ code: 'BAD_ARGUMENT' }),
      );
  });
});

describe('GeoJSON', () => {
  test('a cell is a closed counter-clockwise polygon, longitude first', () => {
    for (const { code } of corpus(100, 5)) {
      const feature = cellFeature(hexcodes, code);
      const [ring] = feature.geometry.coordinates;
      expect(feature.id).toBe(code);
      expect(ring?.at(0)).toEqual(ring?.at(-1));
      const twiceArea = ring!.slice(1).reduce((sum, [x, y], i) => {
        const [fromX, fromY] = ring![i]!;
        return sum + (fromX * y - x * fromY);
      }, 0);
      expect(twiceArea).toBeGreaterThan(0);
    }
  });

  test('centres and collections', () => {
    const feature = centerFeature(hexcodes, HOAN_KIEM.toLowerCase());
    const { lat, lng } = hexcodes.decode(HOAN_KIEM)!;
    expect(feature.geometry).toEqual({ type: 'Point', coordinates: [lng, lat] });
    expect(feature.properties).toEqual({
      hexcodes: HOAN_KIEM,
      resolution: 13,
      admin_code: HOAN_KIEM.slice(0, HOAN_KIEM.indexOf('-')),
    });
    const all = cellCollection(hexcodes, neighbors(hexcodes, HOAN_KIEM));
    expect(all.features).toHaveLength(6);
    expect(() => cellCollection(hexcodes, [HOAN_KIEM, 'x'])).toThrow(/"x" is not a hexcode/);
  });
});
