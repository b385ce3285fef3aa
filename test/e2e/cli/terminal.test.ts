// Exit codes and messages beside the answers: the exit code for a reader that has left, and messages with texts of
// others that would steer the terminal.
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

test('check says by its exit code that a code is invalid, whoever has left', async () => {
  folder.write('codes.csv', 'hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n');
  const ran = await folder.run(['check', 'codes.csv'], { started: (child) => child.stdout?.destroy() });
  expect([ran.code, ran.stderr]).toEqual([1, '']);
});

/** Clears the screen, sets the title, begins a C1 sequence, turns the direction of writing round. */
const EVIL = '\u001b[2J\u001b]0;x\u0007\u009b1m\u202e';

test('texts of others come out of messages without control characters', async () => {
  folder.write('columns.csv', `id,${EVIL}a,${EVIL}b\n1,2,3\n`);
  folder.write('codes.csv', `hexcodes\n"${EVIL}"\n`);
  folder.write(`${EVIL}.csv`, 'lat,lng\n21.0288\n');
  for (const args of [
    ['encode', `${EVIL}none.csv`],
    ['encode', `${EVIL}.csv`],
    ['encode', 'columns.csv'],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}c`],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}b`, '--drop', `${EVIL}c`],
    ['encode', 'columns.csv', '--lat', `${EVIL}a`, '--lng', `${EVIL}b`, '-o', `${EVIL}/out.csv`],
    ['encode', 'columns.csv', '--to', EVIL],
    ['encode', `--${EVIL}`],
    ['decode', EVIL],
    ['suggest', EVIL],
    ['check', 'codes.csv'],
    [EVIL],
  ]) {
    const ran = await folder.run(args);
    expect([args, ran.code === 0]).toEqual([args, false]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    expect(ran.stdout + ran.stderr).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(ran.stdout + ran.stderr).not.toBe('');
  }
});
