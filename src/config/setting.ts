// A setting: a variable, most often a flag, a line of help, and a reader that makes a value of its text.

export interface Setting<T> {
  readonly variable: string;
  /** One of a standard, which gives the setting where nothing else does. */
  readonly standardVariable?: string;
  /** Absent for secrets: arguments can be read by every user of the machine. */
  readonly flag?: string;
  /** Argument of the flag, as help shows it; absent for a flag without an argument, which means `true`. */
  readonly argument?: string;
  /** Its value is never shown. */
  readonly isSecret?: boolean;
  /** The text as it may be shown, where a part of it may be secret. */
  readonly shown?: (text: string) => string;
  readonly help: string;
  /** The value of a text, undefined if none is given. Throws a Fault, whose message follows the name of the setting. */
  readonly read: (text: string | undefined) => T;
}

/** Says what is wrong with the text of a setting; never repeats a secret. */
export class Fault extends Error {}

/** The values of some settings. */
export type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};
