// Positions as callers hand them in.

import { HexcodesError } from '../errors.js';

/** A position in degrees, latitude first. */
export type LatLng = readonly [lat: number, lng: number];

/** A position in degrees, as a pair or as an object: an answer of `encode` or `decode` is one. */
export type Position = LatLng | { readonly lat: number; readonly lng: number };

/** @throws HexcodesError NOT_A_COORDINATE for anything but two finite numbers */
export function latLngOf(given: Position): [lat: number, lng: number] {
  const { lat, lng } = Array.isArray(given)
    ? { lat: given[0] as number, lng: given[1] as number }
    : ((given ?? {}) as { lat: number; lng: number });
  if (!Number.isFinite(lat) || !Number.isFinite(lng))
    throw new HexcodesError(
      'NOT_A_COORDINATE',
      `A position is [lat, lng] or { lat, lng } in degrees, not ${JSON.stringify(given)}`,
    );
  return [lat, lng];
}
