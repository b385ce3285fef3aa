// Checks of the fields of a file that somebody else may have written: each names the field and its rule.

/** @throws Error with field and rule */
export type Check = (value: unknown, field: string) => void;

const MOST_SHOWN = 40;

export function failField(field: string, value: unknown, rule: string): never {
  if (value === undefined) throw new Error(`field ${field} is missing: ${rule}`);
  const shown = JSON.stringify(value);
  const short = shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}…` : shown;
  throw new Error(`field ${field} is ${short}, and has to be ${rule}`);
}

const numberThat =
  (isRight: (value: number) => boolean, rule: string): Check =>
  (value, field) => {
    if (typeof value !== 'number' || !Number.isFinite(value) || !isRight(value))
      failField(field, value, rule);
  };

export const anyNumber = numberThat(() => true, 'a number');
export const from0 = numberThat((value) => value >= 0, 'a number from 0 on');
export const above0 = numberThat((value) => value > 0, 'a number above 0');
export const whole1 = numberThat(
  (value) => Number.isInteger(value) && value >= 1,
  'a whole number from 1 on',
);

export const text: Check = (value, field) => {
  if (typeof value !== 'string') failField(field, value, 'a text');
};

export const yesOrNo: Check = (value, field) => {
  if (typeof value !== 'boolean') failField(field, value, 'true or false');
};

export const orNull =
  (check: Check): Check =>
  (value, field) => {
    if (value !== null) check(value, field);
  };

export const optional =
  (check: Check): Check =>
  (value, field) => {
    if (value !== undefined) check(value, field);
  };

/** @param least least number of elements */
export const listOf =
  (check: Check, least = 0): Check =>
  (value, field) => {
    if (!Array.isArray(value) || value.length < least)
      failField(field, value, least === 0 ? 'a list' : `a list of ${least} or more`);
    for (const [at, each] of (value as unknown[]).entries()) check(each, `${field}[${at}]`);
  };

/** Other fields are left alone. */
export const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      failField(field, value, 'an object');
    for (const [name, check] of Object.entries(checks))
      check((value as Record<string, unknown>)[name], field === '' ? name : `${field}.${name}`);
  };
