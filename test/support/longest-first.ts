// The order in which a run starts its files: those that take longest, then all others as vitest orders them.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST } from './speeds.js';

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.indexOf(relative('.', moduleId));
  return place < 0 ? LONGEST.length : place;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
