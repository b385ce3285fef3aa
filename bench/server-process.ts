// A server of a bench in a process of its own. The program sends its port when it listens and its CPU time when asked.
// Servers are bound to one core and the load to another, on systems that have taskset.
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { loadUws } from '#dist/server/transport/load-uws.js';

const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** A program and environment that differ from those of this checkout and process. */
export interface ProgramPlace {
  readonly program?: URL;
  /** The program's working folder, out of which it reads kernel and data. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    /** CPU time of the process until it listened, where the program says it. */
    readonly startMicros: number,
  ) {}

  /** @param kind first argument of the program, which says what it serves */
  static async start(
    program: URL,
    kind: string,
    isBound = true,
    place: ProgramPlace = {},
  ): Promise<ServerProcess> {
    const child = fork(place.program ?? program, [kind], {
      cwd: place.folder ?? process.cwd(),
      env: { ...process.env, ...place.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    const [{ port, startMicros = 0 }] = (await once(child, 'message')) as [
      { port: number; startMicros?: number },
    ];
    if (isBound) bind(child.pid!, SERVER_CORE);
    return new ServerProcess(child, port, startMicros);
  }

  /** User and system time of the whole process until now. */
  async cpuMicros(): Promise<number> {
    const { cpuMicros } = (await this.ask('cpu')) as { cpuMicros: number };
    return cpuMicros;
  }

  /** CPU time of the program's main thread until now, as Linux counts it; workers are other threads. */
  mainThreadMicros(): number {
    const { pid } = this.child;
    const [nanos] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanos) / 1000;
  }

  /** Sends a message that the program answers with another. */
  async ask(message: string | object): Promise<unknown> {
    this.child.send(message);
    const [answer] = await once(this.child, 'message');
    return answer;
  }

  /** The program ends when its channel does. */
  end(): void {
    this.child.disconnect();
  }
}

/** Binds this process, the load. */
export function bindLoad(): void {
  bind(process.pid, LOAD_CORE);
}

/** The build of uWebSockets.js that serves on this Node, by name, and its version. */
export async function uwsVersion(): Promise<Record<string, string>> {
  const { name, version } = (await loadUws()).build;
  return { [name]: version };
}

function bind(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // Without taskset the numbers are noisier, not wrong.
  }
}
