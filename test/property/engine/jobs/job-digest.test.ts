// Each part of a job is known as one by the digest in its plan, and no other part is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JobPart } from '#dist/bus/jobs/job.js';
import { idOfPlan, isPartOf, treeOf } from '#dist/bus/jobs/job-digest.js';

const partsOf = (count: number): Omit<JobPart, 'job' | 'proof'>[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ part: i + 1, input: `in/${i}.csv`, file: { sizeBytes: i, modifiedMs: 7 }, range: null },
    ...{ sizeBytes: i, from: 'csv', to: 'csv', output: `${i}.csv` },
  }));

test('every part of jobs of up to 70 parts, and of 5,000', () => {
  for (const count of [...Array.from({ length: 70 }, (_, i) => i + 1), 5000]) {
    const parts = partsOf(count);
    const { digest: partsDigest, proofs } = treeOf(parts);
    const plan = { parts: count, partsDigest };
    const known = parts.filter((part, i) => isPartOf(plan, { job: 'any', ...part, proof: proofs[i]! }));
    expect([count, known.length]).toEqual([count, count]);
  }
});

test('a part that is changed, at another number, with another proof or of another job is none', () => {
  const other = treeOf(partsOf(71));
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 70 }), fc.nat(69), fc.nat(69), fc.nat(400), (count, a, b, at) => {
      const parts = partsOf(count);
      const { digest: partsDigest, proofs } = treeOf(parts);
      const plan = { parts: count, partsDigest };
      const [i, k] = [a % count, b % count];
      const part = { job: 'any', ...parts[i]!, proof: proofs[i]! };
      const bytes = Buffer.from(part.proof, 'base64');
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[at % flipped.length]! ^= 1 << (at % 8);
      const wrong: JobPart[] = [
        { ...part, output: 'other.csv' },
        { ...part, file: { sizeBytes: i, modifiedMs: 8 } },
        { ...part, part: count + 1 },
        { ...part, part: 0 },
        { ...part, proof: flipped.toString('base64') },
        { ...part, proof: bytes.subarray(0, -1).toString('base64') },
        { ...part, proof: Buffer.concat([bytes, bytes.subarray(0, 16)]).toString('base64') },
        { ...part, proof: '' },
        { ...part, proof: other.proofs[i]! },
        ...(i === k
          ? []
          : [
              { ...part, part: k + 1 },
              { ...parts[k]!, job: 'any', proof: part.proof },
            ]),
      ];
      for (const each of wrong) expect(isPartOf(plan, each)).toBe(false);
      expect(isPartOf({ ...plan, parts: count + 1 }, { ...part, part: count + 1 })).toBe(false);
      expect(isPartOf({ ...plan, partsDigest: other.digest }, part)).toBe(false);
    }),
  );
});

test('a node of the tree is no part', () => {
  const { digest, proofs } = treeOf(partsOf(2));
  // The root of two parts as a job of one.
  expect(isPartOf({ parts: 1, partsDigest: digest }, { job: 'a', ...partsOf(2)[0]!, proof: '' })).toBe(false);
  expect(proofs.map((proof) => Buffer.from(proof, 'base64').length)).toEqual([16, 16]);
});

test('the id of a plan changes with each of its members, and not with their order', () => {
  const plan = {
    ...{ version: '1.2.3', operation: 'encode' as const, output: 'out', files: 1, parts: 1, sizeBytes: 5 },
    ...{ partsDigest: 'ab', conversion: { a: 1, b: { c: [1, { d: 2, e: 3 }] } } },
  };
  const turned = { ...plan, conversion: { b: { c: [1, { e: 3, d: 2 }] }, a: 1 } };
  expect(idOfPlan(turned)).toBe(idOfPlan(plan));
  const ids = [
    ...Object.keys(plan).map((name) => ({ ...plan, [name]: 'other' })),
    { ...plan, conversion: { a: 1, b: { c: [{ d: 2, e: 3 }, 1] } } },
    plan,
  ].map((each) => idOfPlan(each as typeof plan));
  expect([new Set(ids).size, ids.every((id) => /^[0-9a-f]{16}$/.test(id))]).toEqual([ids.length, true]);
});
