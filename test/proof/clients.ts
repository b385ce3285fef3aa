// `npm run proof -- clients [--tools FOLDER] [--only go,oapi-codegen,java,python,typescript]`: clients that generators
// make of /openapi.json, compiled, and called for every operation: Go by oapi-codegen and openapi-generator, Java,
// Python, TypeScript. FOLDER (~/.cache/hexcodes/generators) keeps the generators, which are installed there when
// they are missing: the jar from Maven Central by mvn, oapi-codegen by go, openapi-python-client by pip. A language
// without its tools is named and left out. A position is encoded at resolution 15 with all digits, where 32 bits give
// another code.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../support/server-process.js';
import { report } from './run-length.js';

const JAR = 'openapi-generator-cli-7.14.0.jar';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const PYTHON_GENERATOR = 'openapi-python-client==0.29.1';
const PROGRAMS = resolve('test/support/generated');
const POSITION = { lat: 21.028812345678, lng: 105.852498765432 };

class Failed extends Error {}

function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...{ cwd, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...env } },
  });
  if (status === 0) return stdout;
  const said = `${error?.message ?? ''}${stderr}${stdout}`.trim().split('\n').slice(-6).join('\n');
  throw new Failed(`${program} ${args.slice(0, 3).join(' ')}: ${said}`);
}

interface Context {
  /** Folder of the generators. */
  readonly tools: string;
  /** Folder of this client, with openapi.json in it. */
  readonly folder: string;
  /** Arguments of the programs that call. */
  readonly args: readonly string[];
}

function jarIn(tools: string): string {
  const jar = join(tools, JAR);
  const artifact = '-Dartifact=org.openapitools:openapi-generator-cli:7.14.0';
  if (!existsSync(jar))
    run('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${tools}`], tools);
  return jar;
}

const generate = (
  { tools, folder }: Context,
  language: string,
  out: string,
  more: readonly string[] = [],
): string =>
  run(
    'java',
    ['-jar', jarIn(tools), 'generate', '-i', 'openapi.json', '-g', language, '-o', out, ...more],
    folder,
  );

const CLIENTS: Readonly<Record<string, (context: Context) => string>> = {
  'oapi-codegen': ({ tools, folder, args }) => {
    const program = join(tools, 'oapi-codegen');
    if (!existsSync(program)) run('go', ['install', OAPI_CODEGEN], tools, { GOBIN: tools });
    const config = ['-generate', 'types,client', '-package', 'main', '-o', 'client.go', 'openapi.json'];
    run(program, config, folder);
    cpSync(join(PROGRAMS, 'oapi_main.go'), join(folder, 'main.go'));
    run('go', ['mod', 'init', 'generated'], folder);
    run('go', ['mod', 'tidy'], folder);
    run('go', ['build', '-o', 'calls', '.'], folder);
    return run(join(folder, 'calls'), args, folder);
  },
  go: (context) => {
    const { folder, args } = context;
    const names = 'packageName=api,gitHost=generated,gitUserId=x,gitRepoId=api,withGoMod=false';
    generate(context, 'go', 'api', ['--additional-properties', names]);
    rmSync(join(folder, 'api/test'), { recursive: true, force: true });
    cpSync(join(PROGRAMS, 'oag_main.go'), join(folder, 'main.go'));
    run('go', ['mod', 'init', 'generated'], folder);
    run('go', ['mod', 'tidy'], folder);
    run('go', ['build', '-o', 'calls', '.'], folder);
    return run(join(folder, 'calls'), args, folder);
  },
  java: (context) => {
    const { folder, args } = context;
    generate(context, 'java', 'java');
    const project = join(folder, 'java');
    cpSync(join(PROGRAMS, 'Calls.java'), join(project, 'src/main/java/Calls.java'));
    const goals = ['compile', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
    run('mvn', ['-q', '-B', ...goals], project);
    return run('java', ['-cp', 'target/classes:lib/*', 'Calls', ...args], project);
  },
  python: ({ tools, folder, args }) => {
    const python = join(tools, 'python/bin/python');
    if (!existsSync(python)) run('python3', ['-m', 'venv', 'python'], tools);
    if (!existsSync(join(tools, 'python/bin/openapi-python-client')))
      run(python, ['-m', 'pip', 'install', '-q', PYTHON_GENERATOR], tools);
    // The generator knows few media types; these are bytes to it. Of several of one class it sends the last.
    const types = ['text/csv', 'application/vnd.mapbox-vector-tile'];
    const lines = types.map((type) => `  ${type}: application/octet-stream\n`);
    writeFileSync(join(folder, 'config.yaml'), `content_type_overrides:\n${lines.join('')}post_hooks: []\n`);
    const output = ['--output-path', 'generated', '--meta', 'none', '--config', 'config.yaml'];
    run(python, ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', ...output], folder);
    cpSync(join(PROGRAMS, 'calls.py'), join(folder, 'calls.py'));
    return run(python, ['calls.py', ...args], folder);
  },
  typescript: ({ folder, args }) => {
    const root = resolve('.');
    const loader = `--import=${join(root, 'test/support/old-typescript.mjs')}`;
    const generator = join(root, 'test/judges/node_modules/openapi-typescript/bin/cli.js');
    // Inside of the repository, whose packages the program imports.
    const inside = mkdtempSync(join(root, 'build/typescript-client-'));
    try {
      run(
        process.execPath,
        [loader, generator, join(folder, 'openapi.json'), '-o', join(inside, 'api.d.ts')],
        root,
      );
      cpSync(join(PROGRAMS, 'calls.mts.txt'), join(inside, 'calls.mts'));
      const options = {
        target: 'es2022',
        module: 'nodenext',
        strict: true,
        skipLibCheck: true,
        types: ['node'],
      };
      writeFileSync(
        join(inside, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, files: ['calls.mts'] }),
      );
      run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', inside], root);
      return run(process.execPath, [join(inside, 'calls.mjs'), ...args], root);
    } finally {
      rmSync(inside, { recursive: true });
    }
  },
};

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'oapi-codegen': ['go'],
  go: ['go', 'java', 'mvn'],
  java: ['java', 'javac', 'mvn'],
  python: ['python3'],
  typescript: [],
};

export default async function proveClients(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      tools: { type: 'string', default: join(homedir(), '.cache/hexcodes/generators') },
      only: { type: 'string' },
    },
  });
  const only = values.only?.split(',');
  mkdirSync(values.tools, { recursive: true });
  const server = await ServerProcess.start({ isQuiet: true });
  const base = `http://127.0.0.1:${server.port}`;
  const folders = mkdtempSync(join(tmpdir(), 'hexcodes-clients-'));
  try {
    const document = await (await fetch(`${base}/openapi.json`)).text();
    const { paths } = JSON.parse(document) as { paths: Record<string, object> };
    const operations = Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
    const query = `lat=${POSITION.lat}&lng=${POSITION.lng}&resolution=15&apikey=${server.key}`;
    const due = (await (await fetch(`${base}/v1/hexcodes/encode?${query}`)).json()) as { hexcodes: string };
    const given = [base, server.key, String(POSITION.lat), String(POSITION.lng), due.hexcodes];
    for (const [name, make] of Object.entries(CLIENTS)) {
      if (only !== undefined && !only.includes(name)) continue;
      const missing = NEEDED[name]!.filter((program) => spawnSync('which', [program]).status !== 0);
      if (missing.length > 0) {
        console.log(`clients: ${name} left out, ${missing.join(', ')} is not installed`);
        continue;
      }
      const folder = join(folders, name);
      mkdirSync(folder);
      writeFileSync(join(folder, 'openapi.json'), document);
      let [done, faults]: [number, string[]] = [0, []];
      try {
        const [count = '0', ...said] = make({ tools: values.tools, folder, args: given }).trim().split('\n');
        [done, faults] = [Number(count), said.filter((line) => line !== '')];
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        faults = [error.message];
      }
      if (faults.length === 0 && done !== operations)
        faults.push(`${done} of ${operations} operations are called`);
      report('clients', `${name}: ${done} of ${operations} operations right`, 0, faults);
    }
  } finally {
    await server.kill();
    rmSync(folders, { recursive: true });
  }
}
