// The outline of an H3 cell as GeoJSON has it, and the box around it.

import { cellToBoundary } from 'h3-js';

/**
 * Corners of a cell, longitude first, counter-clockwise, the first one repeated at the end.
 * @param cell an H3 index in hexadecimal
 */
export function cellRing(cell: string): [lng: number, lat: number][] {
  const ring = cellToBoundary(cell).map(([lat, lng]): [number, number] => [lng!, lat!]);
  ring.push([...ring[0]!]);
  return ring;
}

/** Boxes are rounded outwards to this fraction of a degree, which exceeds the error of corners and positions. */
const PARTS = 1e7;
const RADIANS = Math.PI / 180;

/**
 * The box that holds every position of a cell, in degrees: its edges are arcs, which between their ends may lie farther
 * north or south than both. Valid for cells that no pole and no 180th meridian crosses.
 * @param cell an H3 index in hexadecimal
 */
export function cellBox(cell: string): [west: number, south: number, east: number, north: number] {
  let [west, south, east, north] = [180, 90, -180, -90];
  const ring = cellRing(cell);
  for (const [index, [lng, lat]] of ring.entries()) {
    west = Math.min(west, lng);
    east = Math.max(east, lng);
    const next = ring[index + 1];
    const turn = (next === undefined ? null : turningLat(lat, lng, next[1], next[0])) ?? lat;
    south = Math.min(south, lat, turn);
    north = Math.max(north, lat, turn);
  }
  const down = (deg: number): number => Math.floor(deg * PARTS) / PARTS;
  const up = (deg: number): number => Math.ceil(deg * PARTS) / PARTS;
  return [down(west), down(south), up(east), up(north)];
}

/** The latitude at which the great circle through two points turns, if it does so between them. */
function turningLat(latA: number, lngA: number, latB: number, lngB: number): number | null {
  const [xA, yA, zA] = vectorOf(latA, lngA);
  const [xB, yB, zB] = vectorOf(latB, lngB);
  const [x, y, z] = [yA * zB - zA * yB, zA * xB - xA * zB, xA * yB - yA * xB];
  // How the latitude begins to change from one end towards the other, and back from there.
  const cosine = xA * xB + yA * yB + zA * zB;
  const [fromA, fromB] = [zB - zA * cosine, zA - zB * cosine];
  if (fromA * fromB <= 0) return null;
  const deg = Math.atan2(Math.hypot(x, y), Math.abs(z)) / RADIANS;
  return fromA > 0 ? deg : -deg;
}

function vectorOf(lat: number, lng: number): [x: number, y: number, z: number] {
  const [phi, lambda] = [lat * RADIANS, lng * RADIANS];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}
