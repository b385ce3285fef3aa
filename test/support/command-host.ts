// The command in a process that stays: `node build/test/support/command-host.js` runs one call after another, each with
// its own arguments, folder, settings, input and exit code, so that a call costs its work and no start of Node.
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

export interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Uint8Array;
}

export interface Ended {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** As many bytes as a pipe hands over at once. */
const PIPE_BYTES = 65_536;
const PROGRAM = pathToFileURL('dist/cli/program.js');

/** Standard output or error of one call. */
class Sink extends Writable {
  readonly parts: Buffer[] = [];
  isOver = false;

  override _write(bytes: Buffer, _: string, done: () => void): void {
    // A copy, as in a pipe: the command fills its buffers again.
    if (!this.isOver) this.parts.push(Buffer.from(bytes));
    done();
  }
}

function inputOf(bytes: Uint8Array): Readable {
  let at = 0;
  return new Readable({
    read() {
      this.push(at < bytes.length ? bytes.subarray(at, at + PIPE_BYTES) : null);
      at += PIPE_BYTES;
    },
  });
}

/** Each variable on its own: Node hears of a new time zone where TZ is set. */
function setEnvironment(env: Call['env']): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
}

const exit = process.exit.bind(process);
let calls = 0;

async function run({ args, cwd, env, stdin }: Call): Promise<Ended> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  for (const [name, value] of Object.entries({ stdin: inputOf(stdin), stdout, stderr }))
    Object.defineProperty(process, name, { configurable: true, value });
  const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
  process.chdir(cwd);
  setEnvironment(env);
  process.argv = [process.execPath, PROGRAM.pathname, ...args];
  process.exitCode = undefined;
  let code: number | undefined;
  process.exit = (given) => {
    code ??= Number(given ?? process.exitCode ?? 0);
    // Words after an exit are not said.
    stdout.isOver = true;
    stderr.isOver = true;
    throw new Error('the call has ended');
  };
  try {
    await import(`${PROGRAM.href}?call=${++calls}`);
  } catch (error) {
    if (code === undefined) throw error;
  }
  code ??= Number(process.exitCode ?? 0);
  for (const name of process.eventNames())
    for (const listener of process.rawListeners(name))
      if (listeners.get(name)?.includes(listener) !== true) process.off(name, listener as () => void);
  return { code, stdout: Buffer.concat(stdout.parts), stderr: Buffer.concat(stderr.parts) };
}

process.on('disconnect', () => exit());
process.on('message', async (call: Call) => process.send!(await run(call)));
