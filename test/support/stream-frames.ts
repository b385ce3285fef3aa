// Frames of the bulk stream, written apart from the client's and the service's own: for tests and the bench.

/** @param pairsDeg f64 latDeg, f64 lngDeg of each point */
export function encodeFrame(seq: number, pairsDeg: Float64Array, resolution = 13, output = 0): Buffer {
  return requestFrame(1, seq, pairsDeg.length / 2, new Uint8Array(pairsDeg.buffer), resolution, output);
}

/** @param records 20 bytes each, as an encode answer has them */
export function decodeFrame(seq: number, records: Uint8Array): Buffer {
  return requestFrame(2, seq, records.length / 20, records, 0, 0);
}

function requestFrame(
  operation: number,
  seq: number,
  count: number,
  body: Uint8Array,
  resolution: number,
  output: number,
): Buffer {
  const head = Buffer.alloc(16);
  head.set([1, operation, resolution, output]);
  head.writeUInt32LE(seq, 4);
  head.writeUInt32LE(count, 8);
  return Buffer.concat([head, body]);
}

/** The count that a frame says; 0 where it has no head. */
export function countIn(frame: Uint8Array): number {
  return frame.length < 16 ? 0 : Buffer.from(frame.buffer, frame.byteOffset).readUInt32LE(8);
}

/** The answer to a frame that is refused as a whole. */
export function refusalOf(frame: Uint8Array, status: number): Uint8Array<ArrayBuffer> {
  const answer = new Uint8Array(16);
  answer.set(frame.subarray(0, 8));
  answer.set([1, frame[1]!, status]);
  return answer;
}
