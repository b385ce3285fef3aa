// `npm run release [-- --to FOLDER] [--tag]`: the three tarballs, the kernel without SIMD, the bill of materials and
// SHA256SUMS of all, in release/ or FOLDER; --tag also makes the tag vVERSION, of a commit in which nothing is left
// uncommitted.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PUBLISHED, pack } from './pack.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(ROOT, 'release') },
    tag: { type: 'boolean', default: false },
  },
});
const target = resolve(values.to);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const git = (...args) => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();
const fail = (message) => {
  console.error(`release: ${message}`);
  process.exit(1);
};

if (values.tag) {
  if (git('status', '--porcelain') !== '') fail('there are changes that are not committed');
  if (git('tag', '--list', `v${version}`) !== '') fail(`there is a tag v${version} already`);
  const changes = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  if (!changes.includes(`## ${version}`)) fail(`CHANGELOG.md has no section ${version}`);
}

mkdirSync(target, { recursive: true });
const left = readdirSync(target).filter(
  (name) => !/^(hexcodes.*\.(tgz|cdx\.json|wasm)|SHA256SUMS)$/.test(name),
);
if (left.length > 0) fail(`${target} has files of others: ${left.join(', ')}`);
for (const name of readdirSync(target)) rmSync(join(target, name));

const files = Object.keys(PUBLISHED).map((name) => basename(pack(name, target).file));
const scalar = `hexcodes-kernel-scalar-${version}.wasm`;
copyFileSync(join(ROOT, 'dist/kernel-scalar.wasm'), join(target, scalar));
const bom = `hexcodes-${version}.cdx.json`;
writeFileSync(
  join(target, bom),
  execFileSync(process.execPath, [join(ROOT, 'tools/packages/sbom.mjs')], { cwd: ROOT }),
);
const sums = [...files, scalar, bom].sort().map(
  (name) =>
    `${createHash('sha256')
      .update(readFileSync(join(target, name)))
      .digest('hex')}  ${name}\n`,
);
writeFileSync(join(target, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));
if (values.tag) {
  git('tag', '-a', `v${version}`, '-m', `hexcodes ${version}`);
  console.log(`tagged v${version}`);
}
