// Tools: pages that are printed, workflows, bases of comparisons, faults to be planted and speeds of tests.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUS_NAMES, flagsOf, SETTING_NAMES } from '#config';
import { mutated, readMutants } from '../support/mutants.js';
import { encodeByPeer, packByPeer } from '../support/peers/code-format.js';
import { sharedCommand } from '../support/shared.js';
import { LONG_UNITS, LONGEST, REST, SMOKE, TOGETHER } from '../support/speeds.js';

// A base to compare with runs its own files: packages of others are linked into it, and its workspaces are its own,
// whether it has the layout with workspaces or the one before.
describe('bases', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'hexcodes-base-')));
  const checkout = join(top, 'checkout');
  afterAll(() => rmSync(top, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }

  function git(...args: string[]): string {
    const own = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', ['-C', checkout, ...own, ...args], { encoding: 'utf8' }).trim();
  }

  /** Writes a checkout whose command says a word, which a package of another says too, and commits it. */
  function commit(files: Record<string, string>): string {
    for (const [path, text] of Object.entries(files)) write(path, text);
    git('add', '-A');
    git('commit', '-q', '-m', 'a state');
    return git('rev-parse', 'HEAD');
  }

  const WORKSPACES = (word: string) => ({
    'src/server/package.json': '{"name": "hexcodes-server", "type": "module", "exports": "./word.js"}',
    'src/server/word.js': `export const word = '${word}';\n`,
    'src/cli/package.json':
      '{"name": "hexcodes-cli", "type": "module", "bin": {"hexcodes": "bin/hexcodes.js"}}',
    'src/cli/bin/hexcodes.js':
      "import { word } from 'hexcodes-server';\nimport { other } from 'other';\nconsole.log(word, other);\n",
    'build.mjs': "import { writeFileSync } from 'node:fs';\nwriteFileSync('built', '');\n",
  });

  let before: string;
  let old: string;
  beforeAll(() => {
    mkdirSync(checkout);
    git('init', '-q');
    cpSync('tools/base.mjs', join(checkout, 'tools/base.mjs'));
    cpSync('tools/link-packages.mjs', join(checkout, 'tools/link-packages.mjs'));
    write('.gitignore', 'node_modules\nbuilt\ndist\n');
    old = commit({
      'src/word.js': "export const word = 'old';\n",
      'build.mjs': `import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
      mkdirSync('dist/cli', { recursive: true });
      cpSync('src/word.js', 'dist/word.js');
      writeFileSync('dist/cli/main.js', 'import { word } from "../word.js"; import { other } from "other"; console.log(word, other);');
      writeFileSync('built', '');`,
      'package.json': '{"type": "module"}',
    });
    before = commit(WORKSPACES('before'));
    commit(WORKSPACES('after'));
    // As npm installs them.
    const installed = join(checkout, 'node_modules');
    mkdirSync(join(installed, '.bin'), { recursive: true });
    mkdirSync(join(installed, 'other'));
    writeFileSync(
      join(installed, 'other/package.json'),
      '{"name": "other", "type": "module", "exports": "./other.js"}',
    );
    writeFileSync(join(installed, 'other/other.js'), "export const other = 'another';\n");
    symlinkSync('../src/server', join(installed, 'hexcodes-server'));
    symlinkSync('../src/cli', join(installed, 'hexcodes-cli'));
    symlinkSync('../hexcodes-cli/bin/hexcodes.js', join(installed, '.bin/hexcodes'));
    chmodSync(join(checkout, 'src/cli/bin/hexcodes.js'), 0o755);
  });

  test.each([
    ['with workspaces', () => before, 'before'],
    ['without', () => old, 'old'],
  ])('a base %s runs its own files', (name, commitOf, word) => {
    const folder = join(top, name.replaceAll(' ', '-'));
    const base = execFileSync(process.execPath, [join(checkout, 'tools/base.mjs'), commitOf(), folder], {
      encoding: 'utf8',
    });
    const command = base.trim();
    expect(command.startsWith(`${folder}/`)).toBe(true);
    expect(execFileSync(process.execPath, [command], { encoding: 'utf8' })).toBe(`${word} another\n`);
    expect(readFileSync(join(folder, 'built'), 'utf8')).toBe('');
  });
});

// The manual page that the package of the command brings: every command and option is in it, and man prints it.
describe('the page for man', () => {
  const FOLDER = 'src/cli';
  const { man, version } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    man: string[];
    version: string;
  };
  const path = join(FOLDER, man[0] ?? '');
  const folder = sharedCommand();

  /** The commands below one, and the flags of its options, as its help lists them. */
  async function helpOf(...words: string[]): Promise<{ commands: string[]; flags: string[] }> {
    const { stdout } = await folder.run([...words, '--help']);
    const listed = stdout.replace(/^(?:Arguments|Examples|Help):\n(?: .*\n)*/gm, '');
    const terms = [...listed.matchAll(/^ {2}(\S.*?)(?: {2}|$)/gm)].map((match) => match[1]!);
    const names = terms.flatMap((term) => /^[a-z]+/.exec(term)?.[0] ?? []);
    return {
      commands: names.filter((name) => name !== 'help'),
      flags: terms.filter((term) => /^-(?![hV],)/.test(term)),
    };
  }
  const commands: string[][] = [];
  beforeAll(async () => {
    for (const name of (await helpOf()).commands) {
      commands.push([name]);
      for (const below of (await helpOf(name)).commands) commands.push([name, below]);
    }
  });

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
    expect(commands.length).toBeGreaterThan(30);
    expect(commands.filter((words) => !text.includes(` hexcodes ${words.join(' ')}`))).toEqual([]);
    for (const code of ['0', '1', '2', '3', '4', '5', '130', '143'])
      expect(stdout.slice(stdout.indexOf('EXIT STATUS'))).toMatch(new RegExp(`^ +${code}\\s`, 'm'));
  });

  test('no option is left out, and none of them ends a line as a request of roff', async () => {
    const page = readFileSync(path, 'utf8').replaceAll('\\-', '-');
    const flags: string[] = [];
    for (const words of commands) flags.push(...(await helpOf(...words)).flags);
    expect(flags.length).toBeGreaterThan(200);
    expect(flags.filter((each) => !page.includes(`.TP\n\\fB${each}\\fR\n`))).toEqual([]);
    const requests = new Set(page.match(/^[.'].*?(?= |$)/gm));
    expect([...requests].sort()).toEqual(
      ['.\\"', '.B', '.I', '.PP', '.RE', '.RI', '.RS', '.SH', '.SS', '.TH', '.TP', '.fi', '.nf'].sort(),
    );
  });
});

// The pages of docs/reference/ and the table of bench/README.md are those that code and results give today, and the
// page of settings has each flag.
describe('pages of reference', async () => {
  const program = pathToFileURL(resolve('tools/reference.mjs')).href;
  const { referencePages } = (await import(program)) as {
    referencePages: () => Promise<Record<string, string>>;
  };
  const pages = await referencePages();

  test('the committed pages are the printed ones', () => {
    expect(Object.keys(pages).sort()).toEqual([
      'bench/README.md',
      ...['alerts', 'command', 'http', 'kernel', 'settings'].map((name) => `docs/reference/${name}.md`),
    ]);
    for (const [path, text] of Object.entries(pages)) expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('every flag of a setting is on its page', () => {
    const page = pages['docs/reference/settings.md'];
    const flags = [...flagsOf(SETTING_NAMES), ...flagsOf(BUS_NAMES)].map(({ flags }) => flags.split(' ')[0]!);
    expect(flags.length).toBeGreaterThan(40);
    expect(flags.filter((flag) => !page?.includes(`\`${flag}`))).toEqual([]);
  });
});

// The workflows in .github/: actionlint finds no fault, they run on the Node versions that the package is for, and
// each of their lines is one that .ci/run runs, too, so that they cannot differ from what is tried.
describe('workflows', () => {
  const FOLDER = '.github/workflows';
  const files = readdirSync(FOLDER).map((name) => join(FOLDER, name));
  const { scripts, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
    engines: { node: string };
  };

  interface Step {
    /** Empty where the step has none. */
    readonly name: string;
    readonly line: string;
  }

  /** The lines that a workflow runs. */
  function stepsOf(file: string): Step[] {
    const steps = readFileSync(file, 'utf8')
      .split(/^ {6}- /m)
      .slice(1);
    return steps.flatMap((step) => {
      const line = /^(?: {8})?run: (.+)$/m.exec(step)?.[1];
      return line === undefined ? [] : [{ name: /^name: (.+)$/m.exec(step)?.[1] ?? '', line }];
    });
  }

  /** Commands of .ci/run, without options and what follows a failure. */
  const inCi = readFileSync('.ci/run', 'utf8')
    .split('\n')
    .map((line) => line.replace(/ -- .*| \|\| .*| &$/, ''));

  const projectsOf = (script: string): string[] =>
    [...(scripts[script] ?? '').matchAll(/--project (\w+)/g)].map(([, name]) => name as string);

  test('each line is one of .ci/run, or a part of one, except lines named as untested', () => {
    const steps = files.flatMap(stepsOf);
    const count = files.map((file) => readFileSync(file, 'utf8').match(/\brun:/g)?.length ?? 0);
    expect(steps).toHaveLength(count.reduce((sum, each) => sum + each));
    const elsewhere = steps.filter(({ line }) => !inCi.includes(line.replace(/ -- .*/, '')));
    const untested = elsewhere.filter(({ name }) => name.endsWith('(untested)'));
    expect(untested.map(({ line }) => line.split(' ', 3).join(' '))).toEqual(['gh release create']);
    const rest = elsewhere.filter((step) => !untested.includes(step)).map(({ line }) => line);
    // .ci/run reads more reports than the first; the second is tried by a test of it, the third is a part of `npm
    // test`.
    const [report, ...scriptsElsewhere] = [...new Set(rest)].sort();
    expect(report).toBe('node tools/test-report.mjs --complete build/all.json');
    expect(inCi.some((line) => line.startsWith('node tools/test-report.mjs $complete '))).toBe(true);
    expect(scriptsElsewhere).toEqual(['npm run release', 'npm run test:fast']);
    expect(projectsOf('test')).toEqual(expect.arrayContaining(projectsOf('test:fast')));
    expect(projectsOf('test:fast')).not.toEqual([]);
    const release = scripts.release?.split('node ').at(-1) ?? 'none';
    expect(readFileSync('test/e2e/release.test.ts', 'utf8')).toContain(`'${release}'`);
  });

  test('all speeds run on each Node of engines', () => {
    const text = readFileSync(join(FOLDER, 'tests.yml'), 'utf8');
    const jobs = text.split(/^ {2}(?=\w+:$)/m).filter((job) => job.includes('steps:'));
    expect(jobs.map((job) => /npm (?:run )?test\S*/.exec(job)?.[0])).toEqual([
      'npm run test:fast',
      'npm test',
      'npm run test:all',
    ]);
    for (const job of jobs)
      expect(/node: \[(.*)\]/.exec(job)?.[1]?.split(', ').join(' || ')).toBe(engines.node);
  });

  const isInstalled = spawnSync('actionlint', ['-version']).status === 0;

  test.skipIf(!isInstalled)(
    `actionlint finds no fault${isInstalled ? '' : ' (skipped: actionlint is not installed)'}`,
    () => {
      const { status, stdout } = spawnSync('actionlint', ['-no-color', ...files], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    },
  );
});

// The list of faults for the proof `mutants`: each text is in its file exactly once and changes it, and its tests are
// there.
describe('the list of faults', () => {
  const ROOMS = [
    'server',
    'server/keys',
    'pool',
    'cli',
    'files',
    ...['wire', 'client', 'kernel', 'library', 'geometry'].map((room) => `hexcodes/${room}`),
  ];

  test.each(readMutants())('$file: $text', (mutant) => {
    const source = readFileSync(mutant.file, 'utf8');
    expect(mutated(source, mutant)).not.toBe(source);
    expect(mutant.tests.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('there are sixty faults and more, no two alike, and every room has some', () => {
    const mutants = readMutants();
    expect(mutants.length).toBeGreaterThanOrEqual(60);
    const names = mutants.map(({ file, text, replacement }) => `${file} ${text} ${replacement}`);
    expect(new Set(names).size).toBe(names.length);
    for (const room of [...ROOMS.map((name) => `src/${name}/`), 'assembly/', 'data/map/'])
      expect([room, mutants.some(({ file }) => file.startsWith(room))]).toEqual([room, true]);
  });

  test('a list that is not as its head says is refused', () => {
    expect(() => readMutants('src/a.ts\n- a\n+ b\n')).toThrow('not a file, -, + and =');
    const mutant = { file: 'src/a.ts', text: 'a', replacement: 'b', tests: [] };
    expect(mutated('xay', mutant)).toBe('xby');
    expect(() => mutated('aa', mutant)).toThrow('not there once');
    expect(() => mutated('xy', mutant)).toThrow('not there once');
  });
});

// Every pattern of test/support/speeds.ts names files that exist, no file has two speeds, and `npm test` needs no
// package of test/judges.
describe('speeds of tests', () => {
  const FILES = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((name) => `test/${name}`);

  /** The test files that a pattern names: `**` for folders, `*` within a name, `{a,b}`. */
  function filesOf(pattern: string): string[] {
    const source = pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(.*\u0000/)?')
      .replaceAll('*/', '[^/]*/')
      .replaceAll(/(?<!\.)\*/g, '[^/]*')
      .replaceAll('\u0000', '')
      .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`);
    const whole = new RegExp(`^${source}$`);
    return FILES.filter((file) => whole.test(file));
  }

  test.each([...LONG_UNITS, ...TOGETHER, ...SMOKE, ...REST, ...LONGEST])('%s names test files', (pattern) => {
    expect(filesOf(pattern).filter((file) => file.endsWith('.test.ts'))).not.toEqual([]);
  });

  test('no test file has two speeds', () => {
    const all = [[...LONG_UNITS, ...TOGETHER], SMOKE, REST].map(
      (patterns) => new Set(patterns.flatMap(filesOf)),
    );
    for (const [at, files] of all.entries())
      for (const other of all.slice(at + 1)) expect([...files].filter((file) => other.has(file))).toEqual([]);
  });

  /** The modules, types aside, that a file imports at its head, and those that they import. */
  function importedBy(file: string, found = new Set<string>()): Set<string> {
    const source = readFileSync(file, 'utf8');
    for (const [, to = ''] of source.matchAll(/^(?:import|export) (?!type )[^;]*?'([^']+)';/gm)) {
      const path = to.startsWith('.') ? join(dirname(file), to).replace(/\.js$/, '.ts') : to;
      if (found.has(path)) continue;
      found.add(path);
      if (to.startsWith('.') && path.endsWith('.ts') && existsSync(path)) importedBy(path, found);
    }
    return found;
  }

  /** Packages of test/judges, which `npm ci` does not install, among what a file imports. */
  function judgesOf(file: string): string[] {
    const { dependencies } = JSON.parse(readFileSync('test/judges/package.json', 'utf8'));
    const judges = Object.keys(dependencies);
    return [...importedBy(file)].filter((to) =>
      judges.some((name) => to === name || to.startsWith(`${name}/`)),
    );
  }

  test('what `npm test` runs imports no package of test/judges', () => {
    const rest = new Set(REST.flatMap(filesOf));
    const tests = FILES.filter((file) => /^test\/(?!judges|node_modules).*\.test\.ts$/.test(file));
    const wrong = tests.filter((file) => !rest.has(file) && judgesOf(file).length > 0);
    expect(wrong).toEqual([]);
    expect([...rest].filter((file) => judgesOf(file).length > 0).length).toBeGreaterThan(5);
  });
});

// The peer implementation that proofs compare with must itself agree with the recorded vectors.
describe('the peer of the code format', () => {
  test('every recorded code', () => {
    const [, ...rows] = readFileSync('test/vectors/codes.csv', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rows.length).toBeGreaterThan(600);
    for (const row of rows) {
      const [, lat, lng, resolution, adminCode, cell, code] = row.split(',') as [
        string,
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      expect(packByPeer(cell, adminCode)).toBe(code);
      expect(encodeByPeer(Number(lat), Number(lng), Number(resolution), adminCode)).toBe(code);
    }
  });
});
