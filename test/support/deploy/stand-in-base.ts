// A stand-in for the base image of the Dockerfile, for machines that reach no registry of images: Node, npm, a shell
// and what these and the packages' native code need, taken from this machine. It shows that the file builds and that
// its result runs; it does not show the real base.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const PROGRAMS = ['sh', 'bash', 'mkdir', 'chown', 'env'];

/** Builds the tree in `root`. @param packages folder of node_modules whose native code must find its libraries */
export function makeStandIn(root: string, packages: string): void {
  const programs = PROGRAMS.map((name) =>
    execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
  );
  const natives = readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.node') && !/musl|darwin|win32|arm64/.test(path))
    .map((path) => join(packages, path));
  for (const folder of [
    'usr/bin',
    'usr/lib',
    'usr/sbin',
    'etc',
    'tmp',
    'var/tmp',
    'root',
    'proc',
    'sys',
    'dev',
    'run',
  ])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [link, target] of [
    ['bin', 'usr/bin'],
    ['lib', 'usr/lib'],
    ['sbin', 'usr/sbin'],
    ['lib64', 'usr/lib'],
  ] as const)
    symlinkSync(target, join(root, link));
  for (const program of programs)
    cpSync(realpathSync(program), join(root, 'usr/bin', program.split('/').pop()!));
  cpSync(realpathSync(process.execPath), join(root, 'usr/bin/node'));
  for (const library of librariesOf([process.execPath, ...programs, ...natives])) {
    const target = join(root, library);
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) cpSync(realpathSync(library), target);
  }
  const npm = dirname(
    dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())),
  );
  cpSync(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/bin/npm'));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  // How npm reaches its registry from here, and whose certificates it trusts.
  const ofNpm = ['globalconfig', 'userconfig', 'cafile'].map((name) => npmSetting(name));
  for (const file of ['/etc/ssl', ...ofNpm].filter((path) => path.startsWith('/') && existsSync(path)))
    cpSync(file, join(root, file), { recursive: true, dereference: true });
}

/** '' or `null` where there is none. */
export function npmSetting(name: string): string {
  return execFileSync('npm', ['config', 'get', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** The libraries that the loader finds for these files; those that it does not find are left out. */
function librariesOf(files: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    let text = '';
    try {
      text = execFileSync('ldd', [file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      continue;
    }
    for (const [path] of text.matchAll(/\/[^\s:]+(?=\s\(0x)/g)) found.add(path);
  }
  return found;
}
