// Every door that a machine with Node alone has, driven from one table of positions, texts, numbers and files.
import { expect, test } from 'vitest';
import { drive } from '../support/doors/door.js';
import { DOORS, WRITTEN } from '../support/doors/doors.js';
import { sharedCommand } from '../support/shared.js';

drive(DOORS);

const folder = sharedCommand();

test('each format that is written is a door', async () => {
  folder.write('in.csv', '');
  const { stderr } = await folder.run('encode in.csv --to none');
  expect(stderr).toContain(`must be one of ${WRITTEN.map(([format]) => format).join(', ')}\n`);
});
