// The judges of options that callers hand to the library.
import { HexcodesError } from '../errors.js';
import { unknownOption } from '../wire/params/names.js';

/**
 * Refuses options of other names, which would be ignored in silence.
 * @throws HexcodesError BAD_ARGUMENT; its message has the option, the one that was probably meant, and all known ones
 */
export function requireKnown(given: object, known: readonly string[], call: string): void {
  const fault = unknownOption(given, known, call);
  if (fault !== undefined) throw new HexcodesError('BAD_ARGUMENT', fault);
}

/** @throws HexcodesError BAD_ARGUMENT for an option that is neither true nor false nor absent */
export function requireFlag(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'boolean')
    throw new HexcodesError('BAD_ARGUMENT', `${name} is true or false, not ${JSON.stringify(given)}`);
}
