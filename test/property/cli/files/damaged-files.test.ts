// Files with damaged bytes: every reader gives rows, or throws a CliFailure that names the file, and nothing else.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BAD_INPUT, DAMAGES, damagedBytes, NAMES, outcomeOf } from '../../../support/files/damaged.js';
import { randomFrom } from '../../../support/open-world.js';
import { sharedCommand } from '../../../support/shared.js';

const SEED = 20_260_603;
const TRIES = 80;
console.log(`damaged files: seed ${SEED}`);

const folder = sharedCommand();
const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-damaged-'));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

beforeAll(async () => {
  const rows = Array.from({ length: 300 }, (_, i) => `${i},"tên ${i}",${21 + i / 1000},${105 + i / 900}\n`);
  folder.write('whole.csv', `id,name,lat,lng\n${rows.join('')}`);
  folder.write('whole.csv.gz', gzipSync(folder.bytes('whole.csv')));
  for (const name of NAMES.filter((each) => !each.includes('csv'))) {
    expect((await folder.run(['encode', 'whole.csv', '-o', name, '-q'])).code).toBe(0);
  }
});

describe.each(NAMES)('%s', (name) => {
  test('undamaged', async () => {
    expect(await outcomeOf(folder.file(name))).toEqual({ rows: 300 });
  });

  test('bytes changed, cut off, left out', async () => {
    const whole = readFileSync(folder.file(name));
    const random = randomFrom(SEED);
    const path = join(scratch, name);
    let faults = 0;
    for (let damage = 0; damage < TRIES; damage++) {
      const bytes = damagedBytes(whole, DAMAGES[damage % DAMAGES.length]!, random);
      writeFileSync(path, bytes);
      const outcome = await outcomeOf(path);
      if ('rows' in outcome) continue;
      faults++;
      expect([outcome.exitCode, outcome.fault]).toEqual([BAD_INPUT, expect.stringContaining(name)]);
    }
    expect(faults).toBeGreaterThan(0);
  });
});
