// Options of a proof, `--for 30m` among them, and the one line that every proof prints at its end.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';

type Values<Defaults> = {
  -readonly [Name in keyof Defaults]: Defaults[Name] extends boolean
    ? boolean
    : Defaults[Name] extends string
      ? string
      : string | undefined;
};

/**
 * @param defaults of all options: a text, undefined for one that may be missing, false for a flag
 * @throws Error where an option has another name
 */
export function optionsOf<const Defaults extends Readonly<Record<string, string | false | undefined>>>(
  args: string[],
  defaults: Defaults,
): Values<Defaults> {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      value === false ? { type: 'boolean' as const } : { type: 'string' as const },
    ]),
  );
  return { ...defaults, ...parseArgs({ args, options }).values } as Values<Defaults>;
}

/** Milliseconds of `90s`, `30m` or `2h`. */
export function millisecondsOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([smh])$/.exec(text);
  if (match === null) throw new Error(`--for ${text}: write it as 90s, 30m or 2h`);
  return Number(match[1]) * { s: 1000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'];
}

/** Whether a proof goes on: until its count is reached or its time is over. */
export class RunLength {
  readonly #endMs: number;

  constructor(
    readonly size: number,
    length: string | undefined,
  ) {
    this.#endMs =
      length === undefined ? Number.POSITIVE_INFINITY : performance.now() + millisecondsOf(length);
  }

  goesOn(done: number): boolean {
    return done < this.size && performance.now() < this.#endMs;
  }
}

/** Prints what a proof reached; sets the exit code where it found a fault. */
export function report(proof: string, reached: string, seed: number, faults: readonly string[]): void {
  const result = faults.length === 0 ? 'no fault' : `${faults.length} faults`;
  console.log(
    `${proof}: ${reached}, seed ${seed}, ${result}, commit ${commit()}, Node ${process.versions.node}`,
  );
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}
