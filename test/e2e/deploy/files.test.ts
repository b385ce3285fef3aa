// Files of deploy/ that a program of the system judges: the systemd unit, the Kubernetes manifests. Skipped by name
// where the program is not here. That they agree with one another and with the settings is judged everywhere. Last
// the parts of the image that need no image.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { hasProgram } from '../../support/deploy/proxies.js';
import { listening } from '../../support/network.js';
import { ownFolder } from '../../support/shared.js';

const UNIT = 'deploy/systemd/hexcodes.service';
const WORKER_UNIT = 'deploy/systemd/hexcodes-worker@.service';

/** The settings of the service, by the command. */
const serve = (...flags: string[]) =>
  spawnSync(process.execPath, ['dist/cli/main.js', 'serve', '--print-config', ...flags], {
    ...{ encoding: 'utf8', env: { PATH: process.env.PATH } },
  });

test('the files that are read as configuration have no fault', () => {
  const { status, stdout } = serve('--check-config', '--config', 'deploy/systemd/hexcodes.env');
  expect(status).toBe(0);
  for (const setting of ['PORT=8080', 'ADMIN_PORT=9090', 'DRAIN_MS=2000'])
    expect(stdout).toMatch(new RegExp(`^HEXCODES_${setting} `, 'm'));
});

test('errors of the proxies have the codes of the service', () => {
  const page = readFileSync('docs/reference/http.md', 'utf8').split('## Error codes')[1] ?? '';
  const known = [...page.matchAll(/^- \d{3}: (.*)/gm)].flatMap(([, codes]) => codes!.match(/\w+(?=`)/g));
  const files = ['haproxy/haproxy.cfg', 'nginx/nginx.conf', 'caddy/Caddyfile'];
  const codes = files.flatMap((file) =>
    [...readFileSync(`deploy/${file}`, 'utf8').matchAll(/"code":"(\w+)"/g)].map(([, code]) => code),
  );
  expect(codes.length).toBeGreaterThan(8);
  expect(codes.filter((code) => !known.includes(code!))).toEqual([]);
});

test('every variable that a file of deploy/ sets is a setting', () => {
  const files = ['Dockerfile', 'deploy/compose.yaml', 'deploy/kubernetes/base/kustomization.yaml', UNIT];
  const found = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/^\s*#.*$/gm, '');
    return [...text.matchAll(/HEXCODES_[A-Z_]+(?=[=:])/g)].map(([name]) => name);
  });
  expect(found.length).toBeGreaterThan(8);
  const settings = serve().stdout.match(/^HEXCODES_[A-Z_]+/gm) ?? [];
  // Beside those of the service, its file and the address of the bus.
  const known = [...settings, 'HEXCODES_CONFIG', 'HEXCODES_NATS_URL'];
  expect(found.filter((name) => !known.includes(name))).toEqual([]);
});

test("workers: units and manifests use the command's options, and KEDA watches its stream", () => {
  const manifests = ['deployment', 'scaled-object', 'kustomization'].map((name) =>
    readFileSync(`deploy/kubernetes/workers/${name}.yaml`, 'utf8'),
  );
  const files = [
    ...manifests,
    readFileSync('deploy/compose.yaml', 'utf8'),
    readFileSync(WORKER_UNIT, 'utf8'),
  ];
  const help = spawnSync(process.execPath, ['dist/cli/main.js', 'worker', 'run', '--help'], {
    encoding: 'utf8',
  }).stdout;
  const flags = files.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => /args:|command: \[worker|ExecStart/.test(line))
      .flatMap((line) => line.match(/--[a-z-]+/g) ?? []),
  );
  expect(flags.length).toBeGreaterThan(4);
  expect(flags.filter((flag) => !help.includes(flag))).toEqual([]);
  for (const path of ['/readyz', '/livez']) expect(manifests[0]).toContain(`path: ${path}`);
  expect(manifests[1]).toMatch(/type: nats-jetstream[\s\S]*stream: HEXCODES_IN\n\s+consumer: hexcodes\n/);
  // The streams of the file's users are in an account of their own.
  const [, account = ''] = /^\s+account: (\w+)$/m.exec(manifests[1]!) ?? [];
  expect(readFileSync('deploy/nats/hexcodes.conf', 'utf8')).toMatch(
    new RegExp(`\\n  ${account} \\{\\n    jetstream: enabled`),
  );
});

describe.skipIf(!hasProgram('promtool'))('Prometheus (where promtool is installed)', () => {
  test('alerts of workers: each is raised and explained', () => {
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['test', 'rules', 'deploy/prometheus/workers.test.yml'],
      { encoding: 'utf8' },
    );
    expect(status, `${stdout}${stderr}`).toBe(0);
    const alerts = readFileSync('deploy/prometheus/workers.yml', 'utf8');
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
    expect(names).toHaveLength(5);
    for (const name of names) {
      expect(readFileSync('docs/reference/alerts.md', 'utf8')).toContain(`\n### ${name}\n`);
      expect(alerts).toContain(`docs/reference/alerts.md#${name.toLowerCase()}\n`);
    }
  });
});

test('npm run sbom lists every package that the service needs', () => {
  const { status, stdout } = spawnSync('npm', ['run', '-s', 'sbom'], { encoding: 'utf8' });
  expect(status).toBe(0);
  const listed = (JSON.parse(stdout) as { components: { name: string }[] }).components;
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = listed.map(({ name }) => name);
  expect(Object.keys(dependencies).filter((name) => !names.includes(name))).toEqual([]);
  expect(names).not.toContain('vitest');
});

test('SECURITY.md counts the packages of the lock file, and NOTICE names the licences that packages lack', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<
      string,
      { dev?: boolean; link?: boolean; integrity?: string; hasInstallScript?: boolean }
    >;
  };
  const shipped = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true,
  );
  const security = readFileSync('SECURITY.md', 'utf8');
  expect(security).toContain(`\n- ${shipped.length} runtime packages in the lock file`);
  expect(
    shipped.filter(([, { integrity, hasInstallScript }]) => !integrity || hasInstallScript === true),
  ).toEqual([]);
  expect(existsSync('node_modules/uWebSockets.js/LICENSE')).toBe(false);
  expect(readFileSync('NOTICE', 'utf8').replace(/\s+/g, ' ')).toContain(
    'The package @btc-vision/uwebsockets.js has no LICENSE file of its own',
  );
});

test('npm run sbom lists what is bundled into the page and linked into native code', () => {
  const { stdout } = spawnSync('npm', ['run', '-s', 'sbom'], { encoding: 'utf8' });
  const { components } = JSON.parse(stdout) as {
    components: {
      'bom-ref': string;
      name: string;
      version?: string;
      properties?: { name: string; value: string }[];
    }[];
  };
  const within = (where: string) =>
    components
      .filter(({ properties = [] }) => properties.some(({ value }) => value.startsWith(where)))
      .map(({ name }) => name);
  const page = readdirSync('dist/console/assets').map((name) =>
    readFileSync(join('dist/console/assets', name), 'latin1'),
  );
  expect(page.some((text) => text.includes('maplibregl'))).toBe(true);
  expect(within('hexcodes-server')).toEqual(
    expect.arrayContaining(['maplibre-gl', 'pmtiles', 'uqr', 'h3-js', '@scalar/fastify-api-reference']),
  );
  expect(components.filter(({ name }) => name === 'h3-js')).toHaveLength(4);
  for (const build of ['uWebSockets.js', 'uws-pack'])
    expect(within(build)).toEqual(['uWebSockets', 'uSockets', 'BoringSSL', 'lsquic']);
  expect(components.find(({ name }) => name === 'maplibre-gl')?.version).toBe('6.17.0');
  expect(new Set(components.map((each) => each['bom-ref'])).size).toBe(components.length);
});

test.each([UNIT, WORKER_UNIT])('%s starts again what dies, however often', (unit) => {
  const sections = new Map(
    readFileSync(unit, 'utf8')
      .split(/^\[(?=\w+\]$)/m)
      .map((section) => [section.split(']')[0], section.split('\n')]),
  );
  expect(sections.get('Unit')).toContain('StartLimitIntervalSec=0');
  expect(sections.get('Service')).toContain('Restart=always');
  expect(sections.get('Service')?.find((line) => line.startsWith('RestartSec='))).toBe('RestartSec=1');
  expect(
    sections.get('Service')?.filter((line) => /^(SuccessExitStatus|RestartPrevent|StartLimit)/.test(line)),
  ).toEqual([]);
});

test('every service of compose that serves starts again what dies', () => {
  const services = readFileSync('deploy/compose.yaml', 'utf8').split(/^ {2}(?=\w[\w-]*:$)/m);
  const own = services.filter((service) => /^ {4}image: hexcodes$/m.test(service));
  expect(own.length).toBe(2);
  for (const service of own) expect(service).toMatch(/^ {4}restart: unless-stopped$/m);
});

describe.skipIf(!hasProgram('systemd-analyze'))('systemd (where systemd-analyze is installed)', () => {
  test.each([UNIT, WORKER_UNIT])('%s is exposed by 1.5 of 10 at most', (unit) => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], {
      encoding: 'utf8',
    });
    const level = /Overall exposure level for hexcodes\S*\.service: (\d+\.\d)/.exec(stdout)?.[1];
    expect(Number(level)).toBeLessThanOrEqual(1.5);
  });

  test.each([UNIT, WORKER_UNIT])('%s has no word that systemd does not know', (unit) => {
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => /Unknown|Failed to parse|Invalid/i.test(line))).toEqual([]);
  });
});

describe.skipIf(!hasProgram('kubectl'))('Kubernetes (where kubectl is installed)', () => {
  test.each([
    ['base', 'Deployment'],
    ['overlays/postgres', 'Deployment'],
    ['overlays/traccar', 'StatefulSet'],
  ])('%s is built, and its parts agree', (name, kind) => {
    const built = spawnSync('kubectl', ['kustomize', `deploy/kubernetes/${name}`], { encoding: 'utf8' });
    expect([built.status, built.stderr]).toEqual([0, '']);
    const parts = new Map(
      built.stdout.split(/^---$/m).map((part) => [/^kind: (\w+)$/m.exec(part)?.[1] ?? '', part]),
    );
    expect([...parts.keys()].sort()).toEqual(
      ['ConfigMap', kind, 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].sort(),
    );
    const deployment = parts.get(kind)!;
    const settings = parts.get('ConfigMap')!;
    const number = (pattern: RegExp, text: string): number => Number(pattern.exec(text)?.[1]);
    const drainMs = number(/HEXCODES_DRAIN_MS: "(\d+)"/, settings);
    const graceMs = number(/HEXCODES_GRACE_MS: "(\d+)"/, settings);
    expect(drainMs).toBe(5000);
    expect(number(/terminationGracePeriodSeconds: (\d+)/, deployment) * 1000).toBeGreaterThan(
      drainMs + graceMs,
    );
    for (const port of ['http', 'admin']) expect(deployment).toContain(`name: ${port}`);
    expect(deployment.match(/path: \/(readyz|livez)/g)).toHaveLength(3);
    expect(deployment).toContain('enableServiceLinks: false');
    expect(deployment).toContain('readOnlyRootFilesystem: true');
    // Where positions wait: with the pod, or on a volume that the next pod of the same number has again.
    const isKept = kind === 'StatefulSet';
    expect(deployment).toContain('mountPath: /data\n          name: data');
    expect(/emptyDir:\n\s+sizeLimit: 10Gi\n\s+name: data/.test(deployment)).toBe(!isKept);
    expect(/volumeClaimTemplates:\n\s+- metadata:\n\s+name: data/.test(deployment)).toBe(isKept);
    const selector = /app\.kubernetes\.io\/name: hexcodes/;
    for (const each of ['Service', 'PodDisruptionBudget', 'NetworkPolicy'])
      expect(parts.get(each)!.slice(parts.get(each)!.indexOf('spec:'))).toMatch(selector);
  });
});

// Parts of the image that need no image: its health check, and what its file says of the packages.

const folder = ownFolder('image-files');
let status = 200;
const asked: string[] = [];
const { port, close } = await listening((request, response) => {
  asked.push(request.url!);
  response.writeHead(status).end('{}');
});
afterAll(close);

/** @param words of the command line of the image's first process @returns exit code of the check */
async function check(words: string[], env: Record<string, string> = {}): Promise<number> {
  const file = join(folder, 'cmdline');
  writeFileSync(file, words.map((word) => `${word}\0`).join(''));
  const child = spawn('bash', ['deploy/docker/healthy.sh', file], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number];
  return code;
}

describe('health check', () => {
  const serve = ['node', 'hexcodes.js', 'serve'];

  test('finds the port in flags, in the environment, in the file, in this order', async () => {
    const right = join(folder, 'right.env');
    writeFileSync(right, `# settings\nHEXCODES_PORT=1\nHEXCODES_ADMIN_PORT = ${port}`);
    const wrong = join(folder, 'wrong.env');
    writeFileSync(wrong, 'HEXCODES_ADMIN_PORT=1\n');
    const at = String(port);
    expect(await check([...serve, '--admin-port', at], { HEXCODES_ADMIN_PORT: '1' })).toBe(0);
    expect(await check([...serve, `--admin-port=${at}`])).toBe(0);
    expect(await check([...serve, '--config', wrong], { HEXCODES_ADMIN_PORT: at })).toBe(0);
    expect(await check(serve, { HEXCODES_CONFIG: right })).toBe(0);
    expect(await check([...serve, '--config', right], { HEXCODES_CONFIG: wrong })).toBe(0);
    expect(await check([...serve, `--config=${wrong}`])).toBe(1);
    expect(new Set(asked)).toEqual(new Set(['/readyz']));
  });

  test('fails where the service is not ready, or not there', async () => {
    status = 503;
    expect(await check(serve, { HEXCODES_ADMIN_PORT: String(port) })).toBe(1);
    status = 200;
    expect(await check([...serve, '--admin-port', '1'])).toBe(1);
  });

  test('a worker is asked where it has an admin port, and is healthy without', async () => {
    const worker = ['node', 'hexcodes.js', 'worker'];
    expect(await check([...worker, '--admin-port', String(port)])).toBe(0);
    expect(await check([...worker, '--admin-port', '1'])).toBe(1);
    // As the worker itself does not read it.
    expect(await check(worker, { HEXCODES_ADMIN_PORT: '1' })).toBe(0);
  });
});

test('the layer of packages comes from manifests and nothing else', async () => {
  const root = join(folder, 'layer');
  for (const file of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'src/cli/package.json',
    'src/cli/main.ts',
    'x.bin',
  ]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '{}');
  }
  const child = spawn(process.execPath, ['deploy/docker/keep-manifests.mjs', root]);
  expect(await once(child, 'exit')).toEqual([0, null]);
  const left = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(left.map(({ name }) => name).sort()).toEqual(
    ['.npmrc', 'package-lock.json', 'package.json', 'package.json'].sort(),
  );
});

test('the image names the licences of the package', () => {
  const { license } = JSON.parse(readFileSync('package.json', 'utf8')) as { license: string };
  expect(readFileSync('Dockerfile', 'utf8')).toContain(`image.licenses="${license}"`);
});
