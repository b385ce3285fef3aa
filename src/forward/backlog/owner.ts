// Whose a backlog is. Its folder is named after the process that owns it: processes of one data folder never share one, and one
// whose process is gone is taken over by another, by a rename, which exactly one of several succeeds in. Where processes cannot
// see each other (containers, other machines), a folder that was not touched for a while is taken as left behind.
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';

/** How often owners touch their folders. */
export const TOUCH_MS = 3000;
const UNTOUCHED_MS = 15_000;

/** When the backlog was begun, which stays as it is; then the owner. */
const NAME = /^backlog-(\d+)-(\d+)-(\d+)-(\w+)-(\w+)-\d+$/;

/** No two processes have all of it: number and begin, the processes that can see it, the start of the machine. */
interface Identity {
  readonly pid: number;
  readonly begunTicks: string;
  readonly namespace: string;
  readonly boot: string;
}

const own: Identity = {
  pid: process.pid,
  begunTicks: begunTicksOf(process.pid) ?? '0',
  namespace: textOf(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 'none'),
  boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)),
};
/** Names of the folders of this process that are in use. */
const inUse = new Set<string>();
let made = 0;

/** A name for the folder of a backlog, which is in use from then on. */
export function nameOwn(begunMs = Date.now()): string {
  const name = `backlog-${begunMs}-${own.pid}-${own.begunTicks}-${own.namespace}-${own.boot}-${++made}`;
  inUse.add(name);
  return name;
}

export function release(name: string): void {
  inUse.delete(name);
}

/** Takes over the folders whose processes are gone. @returns their new names, those begun first before the others */
export function takeOver(parent: string): string[] {
  const left = readdirSync(parent)
    .filter((name) => NAME.test(name))
    .map((name) => ({ name, touchedMs: statSync(join(parent, name), { throwIfNoEntry: false })?.mtimeMs }))
    .filter(({ name, touchedMs }) => touchedMs !== undefined && !isOwned(name, touchedMs))
    .sort((a, b) => begunMsOf(a.name) - begunMsOf(b.name));
  return left.flatMap(({ name }) => {
    const taken = nameOwn(begunMsOf(name));
    try {
      renameSync(join(parent, name), join(parent, taken));
      touch(join(parent, taken));
      return [taken];
    } catch {
      // Another process was faster.
      release(taken);
      return [];
    }
  });
}

const begunMsOf = (name: string): number => Number(NAME.exec(name)?.[1]);

/** Shows others that the folder has an owner. */
export function touch(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // It is delivered, and gone.
  }
}

function isOwned(name: string, touchedMs: number): boolean {
  const [, , pid = '', begunTicks, namespace, boot] = NAME.exec(name) ?? [];
  if (namespace !== own.namespace || boot !== own.boot) return Date.now() - touchedMs < UNTOUCHED_MS;
  if (Number(pid) === own.pid && begunTicks === own.begunTicks) return inUse.has(name);
  return isRunning(Number(pid), begunTicks);
}

function isRunning(pid: number, begunTicks: string | undefined): boolean {
  if (existsSync('/proc/self/stat')) return begunTicksOf(pid) === begunTicks;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** When a process began, in ticks since the start of the machine; undefined where there is none (proc(5)). */
function begunTicksOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    // A zombie has ended.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return 'none';
  }
}
