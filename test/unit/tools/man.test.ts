// The manual page that the package of the command brings: every command and option is in it, and man prints it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { COMMANDS } from '#dist/cli/registry.js';

const FOLDER = 'src/cli';
const { man, version } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
  man: string[];
  version: string;
};
const path = join(FOLDER, man[0] ?? '');

/** Runs man on the page; on a terminal of 200 columns no flag goes over two lines. */
const printed = () =>
  spawnSync('man', ['--warnings', '-E', 'UTF-8', '-l', path], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '200', MAN_KEEP_FORMATTING: '', LC_ALL: 'C.UTF-8' },
  });

test('the package names a page that is there, of its version', () => {
  expect([man.length, existsSync(path)]).toEqual([1, true]);
  expect(readFileSync(path, 'utf8')).toContain(`.TH HEXCODES 1 "" "hexcodes ${version}"`);
});

test('man prints every command with its options, and says nothing of the page', (context) => {
  if (spawnSync('man', ['--version']).status !== 0) context.skip('man-db is not installed');
  const { stdout, stderr, status } = printed();
  expect([status, stderr]).toEqual([0, '']);
  const text = stdout.replaceAll(/\s+/g, ' ');
  expect(Object.keys(COMMANDS).filter((name) => !text.includes(` hexcodes ${name}`))).toEqual([]);
  for (const code of ['0', '1', '2', '3', '4', '5', '130, 143'])
    expect(stdout.slice(stdout.indexOf('EXIT STATUS'))).toMatch(new RegExp(`^ +${code}\\s`, 'm'));
});

test('no option is left out, and none of them ends a line as a request of roff', async () => {
  const page = readFileSync(path, 'utf8').replaceAll('\\-', '-');
  const whole = new Command('hexcodes');
  for (const { load } of Object.values(COMMANDS)) (await load()).default(whole);
  const flagsOf = (command: Command): string[] => [
    ...command.options.filter(({ hidden }) => !hidden).map(({ flags }) => flags),
    ...command.commands.flatMap((each) => flagsOf(each as Command)),
  ];
  const flags = flagsOf(whole);
  expect(flags.length).toBeGreaterThan(200);
  expect(flags.filter((each) => !page.includes(`.TP\n\\fB${each}\\fR\n`))).toEqual([]);
  const requests = new Set(page.match(/^[.'].*?(?= |$)/gm));
  expect([...requests].sort()).toEqual(
    ['.\\"', '.B', '.I', '.PP', '.RE', '.RI', '.RS', '.SH', '.SS', '.TH', '.TP', '.fi', '.nf'].sort(),
  );
});
