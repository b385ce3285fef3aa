// The id of a job as a digest of its plan, and the digest of its parts in the plan. The parts are the leaves of a tree
// of digests (Merkle's): each part brings the digests beside its way to the root, so that a worker can tell by the plan
// alone whether a part belongs to the job, and needs no other part for it.
import { createHash } from 'node:crypto';
import type { JobPart, JobPlan } from './job.js';

const ID_DIGITS = 16;
/** Size of each digest in the tree. */
const NODE_BYTES = 16;

/** The id that a plan must have: 16 hexadecimal digits. */
export function idOfPlan(plan: Omit<JobPlan, 'id'>): string {
  const { id: _, ...shape } = plan as JobPlan;
  return digestOf('plan', canonical(shape)).toString('hex').slice(0, ID_DIGITS);
}

export interface PartTree {
  /** Digest of the plan: 32 hexadecimal digits. */
  readonly digest: string;
  /** Proofs of the parts, in their order: the digests beside the way to the root, in base64. */
  readonly proofs: readonly string[];
}

/** @param parts one at least, in their order */
export function treeOf(parts: readonly Omit<JobPart, 'job' | 'proof'>[]): PartTree {
  const levels: Buffer[][] = [parts.map(leafOf)];
  for (let level = levels[0]!; level.length > 1; levels.push(level)) {
    const below = level;
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => parentOf(below, 2 * i));
  }
  const proofs = parts.map((_, part) => {
    const beside = levels.map((level, depth) => level[(part >> depth) ^ 1]);
    return Buffer.concat(beside.filter((each) => each !== undefined)).toString('base64');
  });
  return { digest: levels.at(-1)![0]!.toString('hex'), proofs };
}

/** Whether a part is one of the job by its plan, whose digest is right. */
export function isPartOf(plan: Pick<JobPlan, 'parts' | 'partsDigest'>, part: JobPart): boolean {
  const { job: _, proof, ...rest } = part;
  const beside = Buffer.from(proof, 'base64');
  let digest = leafOf(rest);
  let used = 0;
  let index = part.part - 1;
  if (index < 0 || index >= plan.parts) return false;
  for (let count = plan.parts; count > 1; count = Math.ceil(count / 2)) {
    // The last of an odd number has nothing beside it.
    if ((index ^ 1) < count) {
      const other = beside.subarray(used, used + NODE_BYTES);
      used += NODE_BYTES;
      digest = digestOf('node', ...(index % 2 === 0 ? [digest, other] : [other, digest]));
    }
    index >>= 1;
  }
  return used === beside.length && digest.toString('hex') === plan.partsDigest;
}

const leafOf = (part: Omit<JobPart, 'job' | 'proof'>): Buffer => digestOf('part', canonical(part));

function parentOf(level: readonly Buffer[], left: number): Buffer {
  const right = level[left + 1];
  return right === undefined ? level[left]! : digestOf('node', level[left]!, right);
}

/** @param kind so that no digest of one kind is one of another */
function digestOf(kind: 'plan' | 'part' | 'node', ...bytes: (Buffer | string)[]): Buffer {
  const hash = createHash('sha256').update(`${kind}\n`);
  for (const each of bytes) hash.update(each);
  return hash.digest().subarray(0, NODE_BYTES);
}

/** JSON with the members of each object sorted by their names. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
