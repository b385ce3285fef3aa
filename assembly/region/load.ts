// Takes a boundary index into use: checks every byte of the file that lies at INDEX, unpacks its arcs into segments
// after it, and has the grid built after those. The memory grows here as needed, so any caller that loads a kernel
// makes its views after this call. A refused file leaves the kernel without an index, never with half of one.

import { ADMIN_UNITS, NO_ADMIN } from "../hexcode/admin";
import { INDEX, SCRATCH } from "../memory";
import { layOutBorders } from "./border-distance";
import { addLine, sideOf, startLines } from "./border-lines";
import { buildGrid, gridEnd } from "./grid";
import { dropGrid, reserve } from "./locate";
import {
  ACCEPTED, AT_ADMINS, AT_ARCS, AT_ARCS_BYTES, AT_ARCS_OFFSET, AT_BOX, AT_CHECKSUM, AT_META_BYTES,
  AT_META_OFFSET, AT_SEGMENTS, AT_SIZE, AT_UNITS, AT_ZERO, EFFECT_BITS, FORMAT, HEADER_BYTES, MAGIC, MEMORY_LIMIT,
  OUTSIDE, REFUSED_ARCS, REFUSED_CHECKSUM, REFUSED_FORMAT, REFUSED_HEADER, REFUSED_MAGIC,
  REFUSED_MEMORY, REFUSED_SIZE, SEGMENT_BYTES, SIDE_LIMIT, VERTEX_STEP,
} from "./layout";

/** Takes the file that the host has copied to INDEX into use: ACCEPTED, or why it is refused. */
export function useIndex(sizeBytes: u32): u32 {
  dropGrid();
  if (sizeBytes < HEADER_BYTES || sizeBytes > MEMORY_LIMIT) return REFUSED_SIZE;
  if (INDEX + sizeBytes > <usize>memory.size() << 16) return REFUSED_SIZE;
  if (load<u32>(INDEX) != MAGIC) return REFUSED_MAGIC;
  if (load<u32>(INDEX, 4) != FORMAT) return REFUSED_FORMAT;
  if (load<u32>(INDEX + AT_SIZE) != sizeBytes) return REFUSED_SIZE;
  if (load<u32>(INDEX + AT_CHECKSUM) != crc32(INDEX + AT_BOX, sizeBytes - <u32>AT_BOX)) return REFUSED_CHECKSUM;

  const west = load<i32>(INDEX + AT_BOX);
  const south = load<i32>(INDEX + AT_BOX, 4);
  const east = load<i32>(INDEX + AT_BOX, 8);
  const north = load<i32>(INDEX + AT_BOX, 12);
  const segmentCount = load<u32>(INDEX + AT_SEGMENTS);
  const arcsOffset = load<u32>(INDEX + AT_ARCS_OFFSET);
  const arcsBytes = load<u32>(INDEX + AT_ARCS_BYTES);
  const metaBytes = load<u32>(INDEX + AT_META_BYTES);
  const units = load<u32>(INDEX + AT_UNITS);
  if (
    west % VERTEX_STEP != 0 || south % VERTEX_STEP != 0 || east % VERTEX_STEP != 0 || north % VERTEX_STEP != 0 ||
    west < -180_000_000 || east > 180_000_000 || south < -90_000_000 || north > 90_000_000 ||
    west >= east || south >= north || <i64>east - west >= SIDE_LIMIT || <i64>north - south >= SIDE_LIMIT ||
    load<u32>(INDEX + AT_META_OFFSET) != HEADER_BYTES || metaBytes > sizeBytes - HEADER_BYTES ||
    arcsOffset != HEADER_BYTES + metaBytes || arcsBytes != sizeBytes - arcsOffset ||
    segmentCount > arcsBytes >> 1 || units == 0 || units > OUTSIDE || load<u32>(INDEX + AT_ZERO) != 0
  ) {
    return REFUSED_HEADER;
  }
  for (let unit: u32 = 0; unit <= OUTSIDE; unit++) {
    const admin = <u32>load<u8>(INDEX + AT_ADMINS + unit);
    if (unit < units ? admin >= ADMIN_UNITS : admin != NO_ADMIN) return REFUSED_HEADER;
  }

  const segments = startLines((INDEX + sizeBytes + 15) & ~15, segmentCount);
  const segmentsEnd = segments + <usize>segmentCount * SEGMENT_BYTES;
  if (!reserve(segmentsEnd)) return REFUSED_MEMORY;
  const kept = unpackArcs(INDEX + arcsOffset, arcsBytes, load<u32>(INDEX + AT_ARCS), segmentCount, units,
    east - west, north - south, segments);
  if (kept < 0) return REFUSED_ARCS;
  const refusal = buildGrid(segments, <u32>kept, east, south, <u32>(east - west), <u32>(north - south));
  if (refusal != ACCEPTED || layOutBorders(gridEnd)) return refusal;
  dropGrid();
  return REFUSED_MEMORY;
}

let cursor: usize = 0;
let cursorEnd: usize = 0;

/** The next LEB128 number, at most four bytes; −1 if there is none. */
function nextNumber(): i32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 28; shift += 7) {
    if (cursor >= cursorEnd) return -1;
    const byte = <u32>load<u8>(cursor++);
    value |= (byte & 127) << shift;
    if (byte < 128) return <i32>value;
  }
  return -1;
}

/** Arcs → segments, but for level ones; how many, or −1 if the arcs break the grammar. */
function unpackArcs(
  arcsAt: usize, arcsBytes: u32, arcCount: u32, segmentCount: u32, units: u32, width: i32, height: i32,
  segments: usize,
): i32 {
  cursor = arcsAt;
  cursorEnd = arcsAt + arcsBytes;
  let left = segmentCount;
  let at = segments;
  for (let arc: u32 = 0; arc < arcCount; arc++) {
    if (cursor + 2 > cursorEnd) return -1;
    const leftUnit = <u32>load<u8>(cursor);
    const rightUnit = <u32>load<u8>(cursor, 1);
    cursor += 2;
    if (leftUnit == rightUnit) return -1;
    if (leftUnit >= units && leftUnit != OUTSIDE) return -1;
    if (rightUnit >= units && rightUnit != OUTSIDE) return -1;
    const leftAdmin = sideOf(leftUnit);
    const rightAdmin = sideOf(rightUnit);
    const isBorder = leftAdmin != rightAdmin && leftAdmin != NO_ADMIN && rightAdmin != NO_ADMIN;
    const count = nextNumber();
    if (count < 1 || <u32>count > left) return -1;
    left -= <u32>count;
    const xSteps = nextNumber();
    const ySteps = nextNumber();
    if ((xSteps | ySteps) < 0 || xSteps > width / VERTEX_STEP || ySteps > height / VERTEX_STEP) return -1;
    let u = width - xSteps * VERTEX_STEP;
    let v = ySteps * VERTEX_STEP;
    for (let i = 0; i < count; i++) {
      const dx = nextNumber();
      const dy = nextNumber();
      if ((dx | dy) < 0) return -1;
      // Four LEB128 bytes hold 2^28: a step stays below 1.4e9 micro-degrees, the sum below 2^31.
      const du = -((dx >>> 1) ^ -(dx & 1)) * VERTEX_STEP;
      const dv = ((dy >>> 1) ^ -(dy & 1)) * VERTEX_STEP;
      const toU = u + du;
      const toV = v + dv;
      if (<u32>toU > <u32>width || <u32>toV > <u32>height) return -1;
      if (dv != 0) {
        const upwards = dv > 0;
        store<i32>(at, upwards ? u : toU);
        store<i32>(at, upwards ? v : toV, 4);
        store<i32>(at, upwards ? du : -du, 8);
        store<u32>(at, (<u32>(upwards ? dv : -dv) << EFFECT_BITS) | (leftUnit ^ rightUnit), 12);
        at += SEGMENT_BYTES;
      } else if (du == 0) {
        return -1;
      }
      if (isBorder) addLine(u, v, du, dv, leftAdmin, rightAdmin);
      u = toU;
      v = toV;
    }
  }
  if (left != 0 || cursor != cursorEnd) return -1;
  return <i32>((at - segments) / SEGMENT_BYTES);
}

/** CRC-32 as in zip and PNG (polynomial 0xEDB88320), its table made in SCRATCH. */
function crc32(at: usize, sizeBytes: u32): u32 {
  for (let i: u32 = 0; i < 256; i++) {
    let remainder = i;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >> 1) ^ (0xedb88320 & (0 - (remainder & 1)));
    store<u32>(SCRATCH + (<usize>i << 2), remainder);
  }
  let crc: u32 = 0xffffffff;
  for (const end = at + sizeBytes; at < end; at++) {
    crc = (crc >> 8) ^ load<u32>(SCRATCH + (<usize>((crc ^ load<u8>(at)) & 255) << 2));
  }
  return ~crc;
}
