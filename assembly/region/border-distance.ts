// How far a point is from the nearest border between two provinces, exact to a metre, up to 5 km. For each cell of the
// grid that is requested, the lines that can be the nearest of one of its points are listed once, in metres from the
// cell's centre; a question then measures these few, four at a time. Metres are those of the WGS84 ellipsoid on the
// plane of the cell, where a degree of longitude has the length of the latitude in the middle between point and line.

import { NO_ADMIN } from "../hexcode/admin";
import { cos, sin } from "../h3/trig";
import {
  fillLineTiles, firstTile, LINE_BYTES, LINE_TILE_BITS, lineCount, lines, lineTilesOver, lineTouches, MAX_LATITUDE_DEG,
  sidesOf,
} from "./border-lines";
import { adminOf, columns, east, microPair, reserve, rows, south, unitAt } from "./locate";
import { CELL_BITS, MEMORY_LIMIT } from "./layout";
import { CELLS, CROSSINGS, GRID_U, GRID_V } from "../memory";

/** Beyond this distance the answer is NO_BORDER. */
const FARTHEST_M: f64 = 5000;
export const NO_BORDER: u32 = 0xffff;

const EQUATOR_M: f64 = 6378137;
const ECCENTRICITY_2: f64 = 0.0066943799901413165;
const RAD_PER_MICRO: f64 = 0.017453292519943295 / 1e6;

const CELL: i32 = 1 << CELL_BITS;
const HALF_CELL: i32 = CELL >> 1;

// Memory after the grid:  starts u32 × (tiles + 1) · ids u32 × touches · lists u32 × cells of the grid · arena
//
// An entry of the lists is 0 (nobody has asked), NONE (no border within 5 km) or the address of a list in the arena:
//
//   u32 groups, f32 metres of a micro-degree east, f32 north, f32 tangent of the latitude / 2 radii;
//   for each group of four lines f32 × 4: x, y of an end, dx, dy to the other, 1 / length²; u32 × 4: line numbers
//
// A full arena begins again with no list. It has space for the list of any cell, even with every line in it.

const NONE: u32 = 1;
const HEAD_BYTES: usize = 16;
const GROUP_BYTES: usize = 96;
/** The arena's space besides that for every line: the shipped map fills 3.6 MiB when all cells have been asked for. */
const ARENA_BYTES: usize = 4 << 20;
/** Bytes of a line while its cell is listed: f64 x, y, dx, dy, f64 × 4 distance from each corner, u32 number. */
const DRAFT_BYTES: usize = 72;
/** Bytes of a line with its bytes in the list. */
const LISTED_BYTES: usize = DRAFT_BYTES + (GROUP_BYTES >> 2);

/**
 * The planes of cell and ellipsoid differ by at most 2 m here; lines are dropped only if another is nearer by far more.
 */
const MARGIN_M: f64 = 8;

/** The most memory that index, grid and these tables may take; an index that MEMORY_LIMIT allows stays below it. */
const BORDERS_LIMIT: u32 = MEMORY_LIMIT << 2;

let starts: usize = 0;
let ids: usize = 0;
let lists: usize = 0;
let arena: usize = 0;
let arenaEnd: usize = 0;
let free: usize = 0;
let hasTiles: bool = false;

/** Lays the tables out from `at` on, for the grid in use; false where there is no memory for them. */
export function layOutBorders(at: usize): bool {
  hasTiles = false;
  starts = (at + 15) & ~15;
  ids = starts + (<usize>lineTileColumns() * lineTileRows() + 1 << 2);
  lists = ids + (<usize>lineTouches << 2);
  arena = (lists + (<usize>columns * rows << 2) + 15) & ~15;
  arenaEnd = arena + ARENA_BYTES + HEAD_BYTES + GROUP_BYTES + <usize>lineTouches * LISTED_BYTES;
  free = arena;
  const used = <usize>memory.size() << 16;
  if (lineTouches > BORDERS_LIMIT / <u32>LISTED_BYTES || !reserve(arenaEnd, BORDERS_LIMIT)) return false;
  // memory that was grown just now is zero, and is not touched before somebody asks
  if (used > lists) memory.fill(lists, 0, min(used, arena) - lists);
  return true;
}

// @ts-ignore: decorator
@inline
function lineTileColumns(): u32 {
  return lineTilesOver(columns << CELL_BITS);
}

// @ts-ignore: decorator
@inline
function lineTileRows(): u32 {
  return lineTilesOver(rows << CELL_BITS);
}

/** The point of nearest(): its offset from the cell's centre in metres. */
let pointX: f32 = 0;
let pointY: f32 = 0;

/**
 * Degrees, at most 180, → micro-degrees. Cheaper than WebAssembly's saturating conversion: the sum ends in the
 * integer's 32 bits.
 */
// @ts-ignore: decorator
@inline
function micro(deg: f64): i32 {
  return <i32>reinterpret<u64>(floor<f64>(deg * 1e6 + 0.5) + 6755399441055744);
}

/**
 * The list for a position, rounded to micro-degrees as in unitAt(), and sets its offset; NONE where no border is near.
 */
// @ts-ignore: decorator
@inline
function listAt(latDeg: f64, lngDeg: f64): usize {
  if (!(abs(latDeg) <= 90 && abs(lngDeg) <= 180)) return NONE;
  const u = <u32>(east - micro(lngDeg));
  const v = <u32>(micro(latDeg) - south);
  const column = u >> CELL_BITS;
  const row = v >> CELL_BITS;
  if (column >= columns || row >= rows) return NONE;
  let list: usize = load<u32>(lists + (<usize>(row * columns + column) << 2));
  if (list == 0) list = makeList(column, row);
  if (list == NONE) return NONE;
  setPoint(list, u, v);
  return list;
}

// @ts-ignore: decorator
@inline
function setPoint(list: usize, u: u32, v: u32): void {
  pointX = <f32>(<i32>(u & (CELL - 1)) - HALF_CELL) * load<f32>(list, 4);
  pointY = <f32>(<i32>(v & (CELL - 1)) - HALF_CELL) * load<f32>(list, 8);
}

/**
 * The squares of the distances from a point to the four lines of a group, m²; `factor` and `slope` mend the longitude.
 */
// @ts-ignore: decorator
@inline
function squares(group: usize, x: v128, y: v128, factor: v128, slope: v128): v128 {
  const ex = f32x4.sub(x, v128.load(group));
  const ey = f32x4.sub(y, v128.load(group, 16));
  const dx = v128.load(group, 32);
  const dy = v128.load(group, 48);
  const along = f32x4.mul(f32x4.add(f32x4.mul(ex, dx), f32x4.mul(ey, dy)), v128.load(group, 64));
  const t = f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), along));
  const ry = f32x4.sub(ey, f32x4.mul(t, dy));
  const rx = f32x4.mul(f32x4.sub(ex, f32x4.mul(t, dx)), f32x4.add(factor, f32x4.mul(slope, ry)));
  return f32x4.add(f32x4.mul(rx, rx), f32x4.mul(ry, ry));
}

/** squares() of the one line at an address, with the same operations in the same order. */
// @ts-ignore: decorator
@inline
function squareTo(line: usize, factor: f32, slope: f32): f32 {
  const ex = pointX - load<f32>(line);
  const ey = pointY - load<f32>(line, 16);
  const dx = load<f32>(line, 32);
  const dy = load<f32>(line, 48);
  const along = (ex * dx + ey * dy) * load<f32>(line, 64);
  const t: f32 = along > 0 ? (along < 1 ? along : 1) : 0;
  const ry = ey - t * dy;
  const rx = (ex - t * dx) * (factor + slope * ry);
  return rx * rx + ry * ry;
}

/** Metres from a position in degrees to the nearest border between two provinces; NO_BORDER beyond 5 km and for NaN. */
export function borderMetres(latDeg: f64, lngDeg: f64): u32 {
  const list = listAt(latDeg, lngDeg);
  return list == NONE ? NO_BORDER : minMetres(list);
}

/** Metres from the point of pointX and pointY to the nearest line of a list. */
// @ts-ignore: decorator
@inline
function minMetres(list: usize): u32 {
  if (!ASC_FEATURE_SIMD) return minMetresOneByOne(list);
  const x = f32x4.splat(pointX);
  const y = f32x4.splat(pointY);
  const slope = v128.load32_splat(list, 12);
  const factor = f32x4.sub(f32x4.splat(1), f32x4.mul(f32x4.add(y, y), slope));
  let least = f32x4.splat(Infinity);
  const end = list + HEAD_BYTES + <usize>load<u32>(list) * GROUP_BYTES;
  for (let group = list + HEAD_BYTES; group < end; group += GROUP_BYTES) {
    least = f32x4.pmin(least, squares(group, x, y, factor, slope));
  }
  least = f32x4.pmin(least, v128.shuffle<i32>(least, least, 2, 3, 0, 1));
  least = f32x4.pmin(least, v128.shuffle<i32>(least, least, 1, 0, 3, 2));
  const metres = f32x4.extract_lane(f32x4.sqrt(least), 0);
  return metres <= <f32>FARTHEST_M ? <u32>(metres + 0.5) : NO_BORDER;
}

/** minMetres() without vectors. */
// @ts-ignore: decorator
@inline
function minMetresOneByOne(list: usize): u32 {
  const slope = load<f32>(list, 12);
  const factor: f32 = 1 - (pointY + pointY) * slope;
  let least: f32 = Infinity;
  const end = list + HEAD_BYTES + <usize>load<u32>(list) * GROUP_BYTES;
  for (let group = list + HEAD_BYTES; group < end; group += GROUP_BYTES) {
    for (let line = group; line < group + 16; line += 4) least = min(least, squareTo(line, factor, slope));
  }
  const metres = sqrt(least);
  return metres <= <f32>FARTHEST_M ? <u32>(metres + 0.5) : NO_BORDER;
}

/** The entry that points beyond the grid are given. */
const NOWHERE: usize = memory.data<u32>([NONE]);

/**
 * borderMetres() of points (f64 latDeg, f64 lngDeg), at most BLOCK_POINTS, to u16 each at `out`, in passes: no load
 * waits for another one, nor a branch for a load, so the processor has many cache misses under way. Reads up to three
 * points more.
 */
export function bordersOfBlock(points: usize, count: u32, out: usize): void {
  if (!ASC_FEATURE_SIMD) {
    for (const end = points + (<usize>count << 4); points < end; points += 16, out += 2) {
      store<u16>(out, <u16>borderMetres(load<f64>(points), load<f64>(points, 8)));
    }
    return;
  }
  const bytes = <usize>(count << 2);
  for (let n: usize = 0; n < bytes; n += 16, points += 64) {
    const low = microPair(points);
    const high = microPair(points + 32);
    const u = i32x4.sub(i32x4.splat(east), v128.shuffle<i64>(low, high, 1, 3));
    const v = i32x4.sub(v128.shuffle<i64>(low, high, 0, 2), i32x4.splat(south));
    const column = i32x4.shr_u(u, CELL_BITS);
    const row = i32x4.shr_u(v, CELL_BITS);
    const inside = v128.and(i32x4.lt_u(column, i32x4.splat(columns)), i32x4.lt_u(row, i32x4.splat(rows)));
    const entry = i32x4.add(
      i32x4.shl(i32x4.add(i32x4.mul(row, i32x4.splat(columns)), column), 2), i32x4.splat(<i32>lists),
    );
    v128.store(GRID_U + n, u);
    v128.store(GRID_V + n, v);
    v128.store(CELLS + n, v128.bitselect(entry, i32x4.splat(<i32>NOWHERE), inside));
  }
  let near = CROSSINGS;
  for (let n: usize = 0; n < bytes; n += 4) {
    const list = load<u32>(load<u32>(CELLS + n));
    store<u16>(out + (n >> 1), <u16>NO_BORDER);
    store<u32>(near, <u32>n);
    store<u32>(near, list, 4);
    near += <usize>(list != NONE) << 3;
  }
  // brings the first lines of each list into the cache; nobody reads the stored value
  for (let next = CROSSINGS; next < near; next += 8) {
    const list = <usize>load<u32>(next, 4);
    store<u32>(next, load<u32>(list) | load<u32>(list, 64), 4);
  }
  for (let next = CROSSINGS; next < near; next += 8) {
    const n = <usize>load<u32>(next);
    const u = load<u32>(GRID_U + n);
    const v = load<u32>(GRID_V + n);
    // once more: a list that is made may have begun the arena again
    let list = <usize>load<u32>(load<u32>(CELLS + n));
    if (list == 0) list = makeList(u >> CELL_BITS, v >> CELL_BITS);
    if (list == NONE) continue;
    setPoint(list, u, v);
    store<u16>(out + (n >> 1), <u16>minMetres(list));
  }
}

const SQUARES: usize = memory.data(16, 16);

/** The squares of the distances to the four lines of a group → SQUARES, f32 each. */
// @ts-ignore: decorator
@inline
function storeSquares(group: usize, factor: f32, slope: f32): void {
  if (ASC_FEATURE_SIMD) {
    const x = f32x4.splat(pointX);
    v128.store(SQUARES, squares(group, x, f32x4.splat(pointY), f32x4.splat(factor), f32x4.splat(slope)));
  } else {
    for (let lane: usize = 0; lane < 16; lane += 4) store<f32>(SQUARES + lane, squareTo(group + lane, factor, slope));
  }
}

/**
 * The admin number of the province on the other side of the border nearest to a position; NO_ADMIN beyond 5 km, outside
 * all provinces, and where the position's own is on neither side of it: then sea or foreign land lies between.
 */
export function neighbourAt(latDeg: f64, lngDeg: f64): u32 {
  const list = listAt(latDeg, lngDeg);
  if (list == NONE) return NO_ADMIN;
  const slope = load<f32>(list, 12);
  const factor: f32 = 1 - (pointY + pointY) * slope;
  const own = adminOf(unitAt(latDeg, lngDeg));
  if (own == NO_ADMIN) return NO_ADMIN;
  let least: f32 = <f32>(FARTHEST_M * FARTHEST_M);
  let minOfOwn: f32 = least;
  let neighbour = NO_ADMIN;
  const end = list + HEAD_BYTES + <usize>load<u32>(list) * GROUP_BYTES;
  for (let group = list + HEAD_BYTES; group < end; group += GROUP_BYTES) {
    storeSquares(group, factor, slope);
    for (let lane: usize = 0; lane < 16; lane += 4) {
      const square = load<f32>(SQUARES + lane);
      least = min(least, square);
      const both = sidesOf(load<u32>(group + lane, 80));
      const left = both & 255;
      const right = both >> 8;
      if (square > minOfOwn || (left != own && right != own)) continue;
      minOfOwn = square;
      neighbour = left == own ? right : left;
    }
  }
  // lines of other provinces may end in the same point
  return sqrt(minOfOwn) <= sqrt(least) + 1 ? neighbour : NO_ADMIN;
}

/** Results of near(): the nearest point of a line. */
let nearX: f64 = 0;
let nearY: f64 = 0;

/** The distance from (x, y) to a line of a draft. */
function near(draft: usize, x: f64, y: f64): f64 {
  const x0 = load<f64>(draft);
  const y0 = load<f64>(draft, 8);
  const dx = load<f64>(draft, 16);
  const dy = load<f64>(draft, 24);
  const t = max(0, min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)));
  nearX = x0 + t * dx;
  nearY = y0 + t * dy;
  return sqrt((x - nearX) * (x - nearX) + (y - nearY) * (y - nearY));
}

/**
 * Points of the borders that lines are compared with, five: f64 × 4, its distance from each corner of the cell; and the
 * least distance from each corner.
 */
const NEAREST: usize = memory.data(5 * 32, 16);
const LEAST: usize = memory.data(32, 16);

/** Makes the list of a cell: the entry of `lists`. */
function makeList(column: u32, row: u32): usize {
  const entry = lists + (<usize>(row * columns + column) << 2);
  const u = <i32>(column << CELL_BITS) + HALF_CELL;
  const v = <i32>(row << CELL_BITS) + HALF_CELL;
  const latRad = <f64>(south + v) * RAD_PER_MICRO;
  if (lineCount == 0 || abs(latRad) > MAX_LATITUDE_DEG * 1e6 * RAD_PER_MICRO) {
    store<u32>(entry, NONE);
    return NONE;
  }
  if (!hasTiles) {
    fillLineTiles(starts, ids, lineTileColumns(), lineTileRows());
    hasTiles = true;
  }

  // the lines of the tile around the cell and of its eight neighbours
  const tileColumns = lineTileColumns();
  const west = <u32>max<i32>(0, (u >> LINE_TILE_BITS) - 1);
  const low = <u32>max<i32>(0, (v >> LINE_TILE_BITS) - 1);
  const lastColumn = min<u32>(tileColumns - 1, (u >> LINE_TILE_BITS) + 1);
  const lastRow = min<u32>(lineTileRows() - 1, (v >> LINE_TILE_BITS) + 1);
  let most: usize = 0;
  for (let tileRow = low; tileRow <= lastRow; tileRow++) {
    const first = starts + (<usize>(tileRow * tileColumns) << 2);
    most += load<u32>(first + (<usize>(lastColumn + 1) << 2)) - load<u32>(first + (<usize>west << 2));
  }
  const drafts = free + HEAD_BYTES + (most + 4) * (GROUP_BYTES >> 2);
  if (drafts + most * DRAFT_BYTES > arenaEnd) {
    assert(free != arena);
    free = arena;
    memory.fill(lists, 0, <usize>columns * rows << 2);
    return makeList(column, row);
  }

  const sine = sin(latRad);
  const cosine = cos(latRad);
  const w = 1 - ECCENTRICITY_2 * sine * sine;
  const meridianM = (EQUATOR_M * (1 - ECCENTRICITY_2)) / (w * sqrt(w));
  const scaleX = (EQUATOR_M / sqrt(w)) * cosine * RAD_PER_MICRO;
  const scaleY = meridianM * RAD_PER_MICRO;
  const halfX = <f64>HALF_CELL * scaleX;
  const halfY = <f64>HALF_CELL * scaleY;
  const radius = sqrt(halfX * halfX + halfY * halfY);

  // Drafts of the lines that come within 5 km of the cell. A line of several tiles is met in each, and taken in the
  // first.
  let end = drafts;
  let least = FARTHEST_M + radius + MARGIN_M;
  nearX = Infinity;
  storeNearest(4, halfX, halfY);
  for (let tileRow = low; tileRow <= lastRow; tileRow++) {
    for (let tileColumn = west; tileColumn <= lastColumn; tileColumn++) {
      const tile = starts + (<usize>(tileRow * tileColumns + tileColumn) << 2);
      const idsEnd = ids + (<usize>load<u32>(tile, 4) << 2);
      for (let id = ids + (<usize>load<u32>(tile) << 2); id < idsEnd; id += 4) {
        const line = lines + <usize>load<u32>(id) * LINE_BYTES;
        const u0 = load<i32>(line);
        const v0 = load<i32>(line, 4);
        const du = load<i32>(line, 8);
        const dv = load<i32>(line, 12);
        if (tileColumn != max(west, firstTile(u0, du)) || tileRow != max(low, firstTile(v0, dv))) continue;
        store<f64>(end, <f64>(u0 - u) * scaleX);
        store<f64>(end, <f64>(v0 - v) * scaleY, 8);
        store<f64>(end, <f64>du * scaleX, 16);
        store<f64>(end, <f64>dv * scaleY, 24);
        store<u32>(end, load<u32>(id), 64);
        const metres = near(end, 0, 0);
        // A point of the cell is at most `radius` from its centre, so this line is never the nearest beyond `least`.
        if (metres > min(least + 2 * radius + MARGIN_M, FARTHEST_M + radius + MARGIN_M)) continue;
        if (metres < least) {
          least = metres;
          storeNearest(4, halfX, halfY);
        }
        end += DRAFT_BYTES;
      }
    }
  }
  if (end == drafts) {
    store<u32>(entry, NONE);
    return NONE;
  }

  // The nearest point from each corner.
  for (let corner: u32 = 0; corner < 4; corner++) store<f64>(LEAST + (<usize>corner << 3), Infinity);
  for (let draft = drafts; draft < end; draft += DRAFT_BYTES) {
    for (let corner: u32 = 0; corner < 4; corner++) {
      const at = <usize>corner << 3;
      const metres = near(draft, corner & 1 ? halfX : -halfX, corner & 2 ? halfY : -halfY);
      store<f64>(draft + at, metres, 32);
      if (metres < load<f64>(LEAST + at)) {
        store<f64>(LEAST + at, metres);
        storeNearest(corner, halfX, halfY);
      }
    }
  }

  const list = free;
  let count: u32 = 0;
  for (let draft = drafts; draft < end; draft += DRAFT_BYTES) {
    if (isBeaten(draft)) continue;
    const dx = load<f64>(draft, 16);
    const dy = load<f64>(draft, 24);
    const group = list + HEAD_BYTES + <usize>(count >> 2) * GROUP_BYTES + <usize>((count & 3) << 2);
    store<f32>(group, <f32>load<f64>(draft));
    store<f32>(group, <f32>load<f64>(draft, 8), 16);
    store<f32>(group, <f32>dx, 32);
    store<f32>(group, <f32>dy, 48);
    store<f32>(group, <f32>(1 / (dx * dx + dy * dy)), 64);
    store<u32>(group, load<u32>(draft, 64), 80);
    count++;
  }
  // the last group is filled up with its own first line
  for (; count & 3; count++) {
    const group = list + HEAD_BYTES + <usize>(count >> 2) * GROUP_BYTES;
    for (let at: usize = 0; at < GROUP_BYTES; at += 16) store<u32>(group + at + <usize>((count & 3) << 2), load<u32>(group + at));
  }
  store<u32>(list, count >> 2);
  store<f32>(list, <f32>scaleX, 4);
  store<f32>(list, <f32>scaleY, 8);
  store<f32>(list, <f32>(sine / cosine / (2 * meridianM)), 12);
  free = list + HEAD_BYTES + <usize>(count >> 2) * GROUP_BYTES;
  store<u32>(entry, <u32>list);
  return list;
}

/** Stores how far the result of near() is from each corner. */
function storeNearest(index: u32, halfX: f64, halfY: f64): void {
  const at = NEAREST + (<usize>index << 5);
  const x = nearX;
  const y = nearY;
  for (let corner: u32 = 0; corner < 4; corner++) {
    const cx = (corner & 1 ? halfX : -halfX) - x;
    const cy = (corner & 2 ? halfY : -halfY) - y;
    store<f64>(at + (<usize>corner << 3), sqrt(cx * cx + cy * cy));
  }
}

/**
 * Whether some point is nearer than a line for every point of the cell. The points that are nearer to a point than to a
 * line form a convex set: if the corners are in it, so is the cell.
 */
function isBeaten(draft: usize): bool {
  for (let index: u32 = 0; index < 5; index++) {
    const at = NEAREST + (<usize>index << 5);
    if (
      load<f64>(at) + MARGIN_M <= load<f64>(draft, 32) && load<f64>(at, 8) + MARGIN_M <= load<f64>(draft, 40) &&
      load<f64>(at, 16) + MARGIN_M <= load<f64>(draft, 48) && load<f64>(at, 24) + MARGIN_M <= load<f64>(draft, 56)
    ) return true;
  }
  return false;
}
