// The runs of a Parquet page, before hyparquet reads them: a run that claims 2^31 values is written until memory ends.

/** Values of a group of packed ones. */
const GROUP = 8;
const MOST_PADDING = 511;
const MOST_BLOCK = 1 << 20;
const MOST_MINIBLOCKS = 4096;

/** Reads bytes of a page in their order. */
export class PageBytes {
  readonly view: DataView;
  at = 0;

  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    if (this.left < 1) throw cutOff();
    return this.bytes[this.at++]!;
  }

  word(): number {
    if (this.left < 4) throw cutOff();
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  varint(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < 10; i++, scale *= 128) {
      const part = this.byte();
      value += (part & 127) * scale;
      if (part < 128) return value;
    }
    throw new Error('a page with a number of more than 64 bits');
  }

  skip(count: number): void {
    if (!(count >= 0 && count <= this.left)) throw cutOff();
    this.at += count;
  }

  /** The next bytes as a page of their own. */
  part(count: number): PageBytes {
    const start = this.at;
    this.skip(count);
    return new PageBytes(this.bytes.subarray(start, start + count));
  }
}

function cutOff(): Error {
  return new Error('a page that is cut off');
}

/**
 * Walks runs of equal and of packed values.
 * @param width bits of a value
 * @param most values that the runs may have
 * @param isWhole whether they must have as many; else they end with the page
 * @throws Error for runs that end before, or claim more than is left
 */
export function walkRuns(page: PageBytes, width: number, most: number, isWhole = true): void {
  if (width > 32) throw new Error(`values of ${width} bits`);
  // Values without bits are all the same, and nothing is read.
  if (width === 0) return;
  for (let seen = 0; seen < most && (isWhole || page.left > 0); ) {
    const header = page.varint();
    const left = most - seen;
    const isPacked = header % 2 === 1;
    const values = isPacked ? GROUP * Math.floor(header / 2) : header / 2;
    // Packed values come in groups of eight; the last run may be padded with more of them.
    if (values === 0 || values > left + (isPacked ? MOST_PADDING : 0))
      throw new Error(`a run of ${values} values where ${left} are left`);
    if (isPacked) {
      const whole = Math.ceil((width * values) / GROUP);
      // Its last bytes may be missing behind the last value.
      page.skip(Math.min(whole, Math.max(page.left, Math.ceil((width * Math.min(values, left)) / GROUP))));
    } else page.skip((width + 7) >> 3);
    seen += values;
  }
}

/** Checks the head of delta-packed integers: an odd one keeps the reader in a loop. */
export function checkDeltaHead(bytes: Uint8Array): void {
  const page = new PageBytes(bytes);
  const [block, miniblocks] = [page.varint(), page.varint()];
  const isSound =
    block > 0 &&
    block <= MOST_BLOCK &&
    miniblocks > 0 &&
    miniblocks <= MOST_MINIBLOCKS &&
    block % miniblocks === 0;
  if (!isSound) throw new Error(`blocks of ${block} integers in ${miniblocks} parts`);
}
