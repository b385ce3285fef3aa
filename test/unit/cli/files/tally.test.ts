// The counts of a run, as the journal keeps them for --resume.
import { expect, test } from 'vitest';
import { Tally } from '#dist/files/tally.js';

test('a resumed run has the counts and the first failed rows of the run before it', () => {
  const before = new Tally();
  before.rows = 3;
  before.fail('NOT_FOUND', 2);
  before.first.set('NOT_FOUND', { file: 'in.csv', row: 2, fault: 'lat "48", lng "2"' });
  before.byAdmin[4] = 1;
  before.swapped = 1;
  const after = Tally.restore(JSON.parse(JSON.stringify(before.save(500))));
  expect(after.save(0)).toEqual(before.save(500));
  expect(after.first.get('NOT_FOUND')?.row).toBe(2);
});
