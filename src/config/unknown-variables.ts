// Variables that look like settings and are none: most often a misspelled one, which would leave the default in force
// in silence.

/**
 * Variables of our own programs, but no settings of the service: clients in examples, the command's files, and a test.
 */
const OF_OTHERS = ['HEXCODES_KEY', 'HEXCODES_CHECKPOINT_BYTES', 'HEXCODES_READ_MEMORY'];

/** Kubernetes sets these in every pod beside a Service whose name begins with `hexcodes`. */
const OF_KUBERNETES = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_\w+)?)?$/;

const MOST_SLIPS = 3;

/** One sentence for each variable of the prefix that is unknown. */
export function unknownVariables(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('HEXCODES_') && !known.includes(name) && !OF_OTHERS.includes(name))
    .filter((name) => !(OF_KUBERNETES.test(name) && isServiceLink(name, env[name])))
    .map((name) => unknownVariable(known, name));
}

/** @param where a word in front of the name: the line of a file */
export function unknownVariable(known: readonly string[], name: string, where = ''): string {
  const near = known
    .map((variable) => ({ variable, slips: slipsBetween(variable, name) }))
    .sort((a, b) => a.slips - b.slips)[0];
  const hint = near !== undefined && near.slips <= MOST_SLIPS ? `; did you mean ${near.variable}?` : '';
  return `${where}${name} is no setting${hint}`;
}

/** The value that Kubernetes gives to the variable `NAME_PORT` of a Service. */
export function isPortOfKubernetes(text: string): boolean {
  return /^(tcp|udp):\/\//.test(text);
}

function isServiceLink(name: string, text = ''): boolean {
  return /_PORT$/.test(name) ? isPortOfKubernetes(text) : true;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let slips = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) slips = Math.min(slips, beforeLast[j - 2]! + 1);
      row.push(slips);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
