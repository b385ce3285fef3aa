// `npm run proof -- image`: the Dockerfile is built by buildah, and its result runs as the file says, read-only, as a
// user without rights or capabilities, under bubblewrap. The base is a stand-in of this machine's own files unless
// --base names an image that can be had. Needs root, buildah and bubblewrap.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
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
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasProgram } from '../support/deploy/proxies.js';
import { optionsOf, report } from './run-length.js';

// A stand-in for the base image of the Dockerfile, for machines that reach no registry of images: Node, npm, a shell
// and what these and the packages' native code need, taken from this machine. It shows that the file builds and that
// its result runs; it does not show the real base.

const PROGRAMS = ['sh', 'bash', 'mkdir', 'chown', 'env'];

/** Builds the tree in `root`. @param packages folder of node_modules whose native code must find its libraries */
function makeStandIn(root: string, packages: string): void {
  const programs = PROGRAMS.map((name) =>
    execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
  );
  const natives = readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.node') && !/musl|darwin|win32|arm64/.test(path))
    .map((path) => join(packages, path));
  for (const folder of 'usr/bin usr/lib usr/sbin etc tmp var/tmp root proc sys dev run'.split(' '))
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
function npmSetting(name: string): string {
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

const BASE = /^ARG BASE=(\S+)/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '';
const USER = 65532;

export default async function proveImage(args: string[]): Promise<void> {
  const values = optionsOf(args, { base: undefined });
  const missing = ['buildah', 'bwrap'].filter((program) => !hasProgram(program));
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-image-'));
  const buildah = (...rest: string[]): string =>
    execFileSync('buildah', ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), ...rest], {
      env: { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
  const faults: string[] = [];
  let sizeMb = 0;
  try {
    if (values.base === undefined) {
      makeStandIn(join(folder, 'base'), 'node_modules');
      const from = buildah('from', 'scratch');
      buildah('copy', '-q', from, join(folder, 'base'), '/');
      buildah('config', '--env', 'PATH=/usr/bin', from);
      buildah('commit', '-q', from, BASE);
      rmSync(join(folder, 'base'), { recursive: true });
    }
    const from = values.base === undefined ? ['--pull-never'] : ['--build-arg', `BASE=${values.base}`];
    // Packages that npm has fetched before need not be fetched again.
    const cache = ['--volume', `${npmSetting('cache')}:/root/.npm`];
    buildah('bud', '-q', '--format', 'docker', ...from, ...cache, '-t', 'hexcodes', '.');
    const image = JSON.parse(buildah('inspect', '--type', 'image', 'hexcodes')).Docker.config as ImageConfig;
    const tree = buildah('mount', buildah('from', '--pull-never', 'hexcodes'));
    sizeMb = Math.round(Number(/^\d+/.exec(execFileSync('du', ['-sm', tree], { encoding: 'utf8' }))?.[0]));
    faults.push(...(await run(tree, image, folder)));
  } finally {
    buildah('umount', '--all');
    buildah('rm', '--all');
    rmSync(folder, { recursive: true, force: true });
  }
  const base = values.base === undefined ? 'a stand-in base' : values.base;
  report('image', `built on ${base}, ${sizeMb} MB, run under bubblewrap`, 0, faults);
}

interface ImageConfig {
  readonly User: string;
  readonly Env: string[];
  readonly Cmd: string[];
  readonly Entrypoint: string[];
  readonly WorkingDir: string;
  readonly Healthcheck?: { readonly Test: string[] };
}

/** Runs the image as its configuration says, with the data folder as the only thing that can be written. */
async function run(tree: string, image: ImageConfig, folder: string): Promise<string[]> {
  const faults: string[] = [];
  if (image.User !== `${USER}:${USER}`) faults.push(`the user is ${image.User}`);
  const natives = readdirSync(join(tree, image.WorkingDir, 'node_modules'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((path) => path.endsWith('.node'));
  const foreign = natives.filter((path) => /darwin|win32|arm64|musl/.test(path));
  if (foreign.length > 0) faults.push(`binaries of other platforms: ${foreign.join(', ')}`);
  const data = join(folder, 'data');
  mkdirSync(data);
  chownSync(data, USER, USER);
  chmodSync(data, 0o700);
  for (let path = tree; path.startsWith(folder); path = dirname(path))
    chmodSync(path, path === tree ? 0o755 : 0o711);
  const jail = [
    ...['--reuid', String(USER), '--regid', String(USER), '--clear-groups', 'bwrap'],
    ...[
      '--ro-bind',
      tree,
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--tmpfs',
      '/tmp',
      '--bind',
      data,
      '/data',
    ],
    ...['--unshare-user', '--uid', String(USER), '--gid', String(USER), '--unshare-pid', '--unshare-ipc'],
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--chdir', image.WorkingDir, '--clearenv'],
    ...[...image.Env, 'HEXCODES_PORT=0', 'HEXCODES_ADMIN_PORT=0'].flatMap((pair) => {
      const at = pair.indexOf('=');
      return ['--setenv', pair.slice(0, at), pair.slice(at + 1)];
    }),
  ];
  const child = spawn('setpriv', [...jail, ...image.Entrypoint, ...image.Cmd], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  child.stdout.on('data', (bytes) => (out += bytes));
  child.stderr.on('data', (bytes) => (out += bytes));
  const exit = once(child, 'close');
  while (!out.includes('"listening"') && child.exitCode === null) await sleep(20);
  if (child.exitCode !== null) return [...faults, `it does not run: ${out}`];
  const listening = JSON.parse(out.split('\n').find((line) => line.includes('"listening"'))!) as {
    port: number;
    admin_port: number;
  };
  const key = readFileSync(join(data, 'first-key'), 'utf8').trim();
  const answer = await fetch(
    `http://127.0.0.1:${listening.port}/v1/hexcodes/encode?lat=21.0288&lng=105.8525`,
    {
      headers: { 'X-API-Key': key },
    },
  );
  const body = await answer.text();
  if (!body.includes('HN-6GHP4-83RFR')) faults.push(`answer: ${answer.status} ${body}`);
  const health = image.Healthcheck?.Test ?? [];
  const withPort = [
    ...jail,
    '--setenv',
    'HEXCODES_ADMIN_PORT',
    String(listening.admin_port),
    ...health.slice(1),
  ];
  if (health[0] !== 'CMD') faults.push('no health check');
  else await execute('setpriv', withPort).catch(() => faults.push('the health check fails'));
  await execute('setpriv', [...jail, 'sh', '-c', ': > /opt/hexcodes/x']).then(
    () => faults.push('the root can be written'),
    () => {},
  );
  // bubblewrap hands no signals on; the service is the second process in its namespace.
  const pid = Number(
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0],
  );
  process.kill(serviceBelow(pid), 'SIGTERM');
  await exit;
  if (!out.includes('"stopped"')) faults.push(`it was not stopped: ${out.slice(-500)}`);
  if (!existsSync(join(data, 'keys.db'))) faults.push('there is no key store in /data');
  return faults;
}

/** The innermost process. */
function serviceBelow(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? pid : serviceBelow(Number(children.split(' ')[0]));
}

async function execute(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
