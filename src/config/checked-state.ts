// State files: JSON with a digest of its own fields, so that an altered or truncated file is rejected.
import { createHash } from 'node:crypto';

/** The text was altered after `checkedText` had written it. */
export class AlteredStateError extends Error {
  override readonly name = 'AlteredStateError';
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The text of a state file. @param state that JSON can hold */
export function checkedText(state: unknown): string {
  const text = JSON.stringify(state);
  return `{"digest":"${digestOf(text)}","state":${text}}`;
}

/**
 * The state in a text of `checkedText`.
 * @throws AlteredStateError
 */
export function readChecked(text: string): unknown {
  const [, digest, state] = /^\{"digest":"([0-9a-f]{32})","state":(.*)\}\s*$/s.exec(text) ?? [];
  if (state === undefined || digestOf(state) !== digest)
    throw new AlteredStateError('it is not as it was written');
  return JSON.parse(state);
}
