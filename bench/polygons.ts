// The rival for containment: which-polygon on the shipped boundaries, one feature a province.
import whichPolygon from 'which-polygon';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';

/** The code of the province at a position in degrees, null outside. */
export type ProvinceAt = (latDeg: number, lngDeg: number) => string | null;

/** @param index bytes of a boundary index */
export function shippedPolygons(index: Uint8Array): ProvinceAt {
  const borders = new ProvinceBorders(index);
  const features = ADMIN_UNITS.map(({ code }, admin) => ({
    type: 'Feature' as const,
    properties: { code },
    geometry: borders.ofAdmin(admin),
  }));
  const query = whichPolygon<{ code: string }>({ type: 'FeatureCollection', features });
  return (latDeg, lngDeg) => query([lngDeg, latDeg])?.code ?? null;
}
