// Members and columns that encode adds to its answers on request: one table from which options, parameters, flags,
// columns and schemas follow.

/** The extras that a request asks for, each by its name. */
export interface ExtrasAsked {
  /** Whether answers name the province before July 2025, as `former_province`. */
  readonly former?: boolean | undefined;
  /** Whether answers say how sure the province is, as `border_m` and `certainty`. */
  readonly certainty?: boolean | undefined;
}

export type ExtraName = keyof ExtrasAsked;

interface Extra {
  /** Bit in `columns` of the kernel's writers. */
  readonly bit: number;
  /** Columns of CSV, and members of JSON. */
  readonly columns: readonly string[];
  /** Its sentence in the documents. */
  readonly does: string;
}

export const EXTRAS: Readonly<Record<ExtraName, Extra>> = {
  former: {
    bit: 8,
    columns: ['former_province'],
    does: 'Whether answers name the province before July 2025, as `former_province`',
  },
  certainty: {
    bit: 16,
    columns: ['border_m', 'certainty'],
    does: 'Whether answers say how sure the province is, as `border_m` and `certainty`',
  },
};

/** Names in the order of their columns. */
export const EXTRA_NAMES = Object.keys(EXTRAS) as readonly ExtraName[];

/** A value for each extra. */
export const forExtras = <T>(make: (name: ExtraName) => T): Readonly<Record<ExtraName, T>> =>
  Object.fromEntries(EXTRA_NAMES.map((name) => [name, make(name)])) as Record<ExtraName, T>;

/** @param isAsked called once for each extra, in the order of their columns */
export function extrasWhere(isAsked: (name: ExtraName) => boolean): number {
  return EXTRA_NAMES.reduce((bits, name) => (isAsked(name) ? bits | EXTRAS[name].bit : bits), 0);
}

/** The bits of the extras that are requested. */
export const extrasOf = (asked: ExtrasAsked): number => extrasWhere((name) => asked[name] === true);

/** The columns that the extras add, in their order. */
export const extraColumns = (extras: number): string[] =>
  EXTRA_NAMES.flatMap((name) => ((extras & EXTRAS[name].bit) === 0 ? [] : EXTRAS[name].columns));

/** The extras that a request names, and none of its other options. */
export function onlyExtras(asked: ExtrasAsked): ExtrasAsked {
  return Object.fromEntries(
    EXTRA_NAMES.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name]]])),
  );
}

/** The fault of a request for provinces that the boundary data do not have, as the end of a sentence. */
export const NO_FORMER =
  'cannot be answered: the boundary data of this service have no provinces from before July 2025';

/**
 * Why an extra cannot be answered, as the fault of its parameter: the end of a sentence.
 * @param kernel of the boundary data
 */
export function extraFault(
  extras: number,
  kernel: { readonly formerProvinces: readonly string[] | null },
): { readonly parameter: ExtraName; readonly message: string } | undefined {
  if ((extras & EXTRAS.former.bit) === 0 || kernel.formerProvinces !== null) return undefined;
  return {
    parameter: 'former',
    message: NO_FORMER,
  };
}
