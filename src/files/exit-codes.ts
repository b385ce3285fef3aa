// The exit codes of the command, and the one error that carries them. docs/command.md lists them for users.

export const EXIT = {
  /** Done. Failed rows, if there were any, were treated as `--errors` says. */
  OK: 0,
  /** The position or code given failed, `check` found invalid codes, or `--errors stop` met a failed row. */
  FAILED: 1,
  /** The command line itself is wrong. */
  USAGE: 2,
  /** An input cannot be read, or is not what its format says. */
  BAD_INPUT: 3,
  /** The output cannot be written. */
  BAD_OUTPUT: 4,
  /** `bench`: the machine was too noisy for figures of tails. */
  TOO_NOISY: 5,
  /** Ctrl-C or SIGTERM, as shells count them. */
  INTERRUPTED: 130,
  TERMINATED: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with one sentence for the user and an exit code; no stack is printed. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    /** The user's way out, printed on a line of its own. */
    readonly hint?: string,
  ) {
    super(message);
  }
}
