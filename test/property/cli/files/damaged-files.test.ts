// Files with damaged bytes: every reader gives rows, or throws a CliFailure that names the file, and nothing else.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliFailure, EXIT } from '#dist/cli/exit-codes.js';
import { openInput } from '#dist/cli/files/disk/input.js';
import { formatOfName } from '#dist/cli/files/format.js';
import { openSource } from '#dist/cli/files/formats/open.js';
import { CliFolder } from '../../../support/cli.js';
import { randomFrom } from '../../../support/open-world.js';

const SEED = 20_260_603;
const DAMAGES = 150;
console.log(`damaged files: seed ${SEED}`);

const folder = new CliFolder();
const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-damaged-'));
afterAll(() => {
  folder.remove();
  rmSync(scratch, { recursive: true });
});

const NAMES = ['whole.csv', 'whole.ndjson', 'whole.geojson', 'whole.parquet', 'whole.arrow', 'whole.csv.gz'];

beforeAll(async () => {
  const rows = Array.from({ length: 300 }, (_, i) => `${i},"tên ${i}",${21 + i / 1000},${105 + i / 900}\n`);
  folder.write('whole.csv', `id,name,lat,lng\n${rows.join('')}`);
  folder.write('whole.csv.gz', gzipSync(folder.bytes('whole.csv')));
  for (const name of NAMES.filter((each) => !each.includes('csv'))) {
    expect((await folder.run(['encode', 'whole.csv', '-o', name, '-q'])).code).toBe(0);
  }
});

/** The number of rows of a file, or its fault. */
async function outcomeOf(path: string): Promise<{ rows: number } | { fault: string; exitCode: number }> {
  try {
    const input = await openInput(path);
    const source = await openSource(input, formatOfName(path).format ?? 'csv', true);
    let rows = 0;
    for await (const { rowCount } of source.batches()) rows += rowCount;
    return { rows };
  } catch (error) {
    if (error instanceof CliFailure) return { fault: error.message, exitCode: error.exitCode };
    throw error;
  }
}

describe.each(NAMES)('%s', (name) => {
  test('undamaged', async () => {
    expect(await outcomeOf(folder.file(name))).toEqual({ rows: 300 });
  });

  test('bytes changed, cut off, left out', async () => {
    const whole = readFileSync(folder.file(name));
    const random = randomFrom(SEED);
    const path = join(scratch, name);
    let faults = 0;
    // A changed byte in a Parquet page, which has no checksum, can keep hyparquet in a loop for minutes.
    const kinds = name === 'whole.parquet' ? [1, 2] : [0, 1, 2];
    for (let damage = 0; damage < DAMAGES; damage++) {
      let bytes = Buffer.from(whole);
      const at = Math.floor(random() * bytes.length);
      const kind = kinds[damage % kinds.length];
      if (kind === 0)
        for (let i = 0; i < 4; i++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      if (kind === 1) bytes = bytes.subarray(0, at);
      if (kind === 2)
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 64))]);
      writeFileSync(path, bytes);
      const outcome = await outcomeOf(path);
      if ('rows' in outcome) continue;
      faults++;
      expect([outcome.exitCode, outcome.fault]).toEqual([EXIT.BAD_INPUT, expect.stringContaining(name)]);
    }
    expect(faults).toBeGreaterThan(0);
  });
});
