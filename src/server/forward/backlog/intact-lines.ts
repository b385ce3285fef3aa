// Lines that an earlier process has left. They are not forced onto the disk one by one, so after a power cut some may
// be other bytes, most often zeros: those are left out, as no sink would ever take the batch that they are in.
import { eachLine } from './each-line.js';

const LINE_END = Buffer.from('\n');

/** @returns whole lines of NDJSON, and how many others were among them */
export async function intactLines(lines: Buffer): Promise<{ lines: Buffer; damagedRows: number }> {
  const intact: Buffer[] = [];
  let damagedRows = 0;
  await eachLine(lines, (line) => {
    if (isObject(line)) intact.push(line, LINE_END);
    else damagedRows++;
  });
  return { lines: damagedRows === 0 ? lines : Buffer.concat(intact), damagedRows };
}

function isObject(line: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(line.toString());
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
