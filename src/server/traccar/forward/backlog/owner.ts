// Ownership of backlogs. Its folder is named after the process that owns it: processes of one data folder never share
// one, and one whose process is gone is taken over by another, by a rename, which succeeds for exactly one of them.
// Where processes cannot see each other (containers, other machines), a folder that is not touched for a while counts
// as abandoned. No clocks are compared.
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** Interval at which owners touch their folders, and look for abandoned ones. */
export const TOUCH_MS = 3000;
/**
 * Looks that find a folder untouched before it counts as abandoned: 15 s. A machine that hung for longer costs one
 * look.
 */
const UNTOUCHED_LOOKS = 5;

/** The name of a folder: when the backlog was begun, which never changes; the owner; whether the owner has left it. */
const NAME = /^backlog-(\d+)-(\d+)-(\d+)-(\w+)-(\w+)-\d+(-left)?$/;

/** An identity that no two processes share: number and start time, PID namespace, boot of the machine. */
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

/** Gives a folder up: it belongs to the first process that looks for it. */
export function leave(folder: string): void {
  try {
    renameSync(folder, `${folder}-left`);
  } catch {
    // The folder is gone: its positions are delivered.
  }
  release(basename(folder));
}

/** Shows others that the folder has an owner. */
export function touch(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // The folder is gone: its positions are delivered.
  }
}

/** A folder whose owner cannot be seen. */
interface Watched {
  readonly touchedMs: number;
  /** Consecutive looks that found it unchanged. */
  readonly looks: number;
  /** The folder was touched since the first look. */
  readonly isAlive: boolean;
}

/** The backlogs below one folder, as they change from look to look. */
export class LeftFolders {
  readonly #watched = new Map<string, Watched>();

  constructor(private readonly parent: string) {}

  /** Whether there are folders of which it is not known yet if their owners are gone. */
  get hasUnjudged(): boolean {
    return [...this.#watched.values()].some(({ isAlive }) => !isAlive);
  }

  /**
   * Takes over the folders whose owners are gone; call it every TOUCH_MS.
   * @returns their new names, those begun first before the others
   */
  takeOver(): string[] {
    const names = readdirSync(this.parent).filter((name) => NAME.test(name));
    for (const name of this.#watched.keys()) if (!names.includes(name)) this.#watched.delete(name);
    return names
      .filter((name) => !(isOwned(name) ?? this.#isTouched(name)))
      .sort((a, b) => begunMsOf(a) - begunMsOf(b))
      .flatMap((name) => this.#take(name));
  }

  #isTouched(name: string): boolean {
    const touchedMs = statSync(join(this.parent, name), { throwIfNoEntry: false })?.mtimeMs;
    // Another process was faster.
    if (touchedMs === undefined) return true;
    const before = this.#watched.get(name);
    const isSame = before?.touchedMs === touchedMs;
    const looks = isSame ? before.looks + 1 : 0;
    const isAlive = before !== undefined && (before.isAlive || !isSame);
    this.#watched.set(name, { touchedMs, looks, isAlive });
    return looks < UNTOUCHED_LOOKS;
  }

  #take(name: string): string[] {
    this.#watched.delete(name);
    const taken = nameOwn(begunMsOf(name));
    try {
      renameSync(join(this.parent, name), join(this.parent, taken));
      touch(join(this.parent, taken));
      return [taken];
    } catch {
      // Another process was faster.
      release(taken);
      return [];
    }
  }
}

/** When a backlog was begun, by the name of its folder. */
export const begunMsOf = (name: string): number => Number(NAME.exec(name)?.[1]);

/** undefined where the name does not say, as the process is not visible from here. */
function isOwned(name: string): boolean | undefined {
  const [, , pid = '', begunTicks, namespace, boot, left] = NAME.exec(name) ?? [];
  if (left !== undefined) return false;
  if (namespace !== own.namespace || boot !== own.boot) return undefined;
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
