// `npm run wheel [-- --to FOLDER] [--stage]`: the Python package of clients/python as wheel and sdist, by the build
// backend that its pyproject.toml names, with the built kernel, its data, the client and the licences inside.
// `--stage` only lays out the source tree, whose src/ Python can import. It needs python3 with pip, which fetches
// the backend unless `--no-isolation` says that it is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const SOURCE = join(ROOT, 'clients/python');
/** Files of the package's data folder, by the files of this tree that they are copies of. */
const DATA = {
  'kernel.wasm': 'dist/kernel.wasm',
  'index.bin': 'data/index.bin',
  'reach.bin': 'data/reach.bin',
  LICENSE: 'data/LICENSE',
};

/** Lays out the source tree of the package in a folder, which is emptied before. */
export function stage(folder) {
  rmSync(folder, { recursive: true, force: true });
  cpSync(SOURCE, folder, { recursive: true, filter: (file) => !/__pycache__|\.egg-info/.test(file) });
  for (const file of ['LICENSE', 'NOTICE']) cpSync(join(ROOT, file), join(folder, file));
  const inside = join(folder, 'src/hexcodes');
  cpSync(join(SOURCE, 'hexcodes_client.py'), join(inside, 'client.py'));
  rmSync(join(folder, 'hexcodes_client.py'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'src/hexcodes/package.json'), 'utf8'));
  writeFileSync(join(inside, '_version.py'), `__version__ = "${version}"\n`);
  mkdirSync(join(inside, 'data'));
  const sums = Object.entries(DATA).map(([name, file]) => {
    const content = readFileSync(join(ROOT, file));
    writeFileSync(join(inside, 'data', name), content);
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(inside, 'data/SHA256SUMS'), sums.join(''));
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      to: { type: 'string', default: 'build/python' },
      stage: { type: 'boolean', default: false },
      'no-isolation': { type: 'boolean', default: false },
    },
  });
  const target = resolve(values.to);
  const tree = stage(join(ROOT, 'build/python-tree'));
  if (values.stage) {
    console.log(tree);
  } else {
    mkdirSync(target, { recursive: true });
    const isolation = values['no-isolation'] ? ['--no-isolation'] : [];
    const { status } = spawnSync('python3', ['-m', 'build', ...isolation, '--outdir', target, tree], {
      stdio: 'inherit',
    });
    process.exitCode = status ?? 1;
  }
}
