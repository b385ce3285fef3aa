// A job: files that are converted in parts, each a message under a subject of its own, and each with one result under
// another. A subject holds one message, so that no part and no result is there twice.

/** The words of all subjects of jobs, before the last ones. */
export class JobSubjects {
  /** @param prefix as `hexcodes.job` */
  constructor(readonly prefix: string) {}

  get all(): string {
    return `${this.prefix}.>`;
  }

  /** Subject of the messages that workers take. */
  get parts(): string {
    return `${this.prefix}.part.>`;
  }

  /** @param what a job or `*` */
  of(kind: 'plan' | 'cancelled' | 'ended', what: string): string {
    return `${this.prefix}.${kind}.${what}`;
  }

  /** @param part from 1, or `*` */
  ofPart(kind: 'part' | 'result', job: string, part: number | '*'): string {
    return `${this.prefix}.${kind}.${job}.${part}`;
  }

  /** Before the subjects of messages that are no parts. */
  get dead(): string {
    return `${this.prefix}.dead`;
  }

  /** The part whose message a subject is; undefined where it is none. */
  partIn(subject: string): { readonly job: string; readonly part: number } | undefined {
    const before = `${this.prefix}.part.`;
    const [, job, digits] =
      /^([0-9a-f]{16})\.([1-9]\d{0,7})$/.exec(
        subject.startsWith(before) ? subject.slice(before.length) : '',
      ) ?? [];
    return job === undefined ? undefined : { job, part: Number(digits) };
  }
}

/** All that the parts of a job have in common. The same files and options give the same plan. */
export interface JobPlan {
  /** A digest of all other members: 16 hexadecimal digits. */
  readonly id: string;
  /** Version of the program that submitted it; workers of another version could give other bytes. */
  readonly version: string;
  readonly operation: 'encode' | 'decode';
  /** The output folder, relative to the folder that the workers share. */
  readonly output: string;
  readonly files: number;
  readonly parts: number;
  /** Size of all inputs. */
  readonly sizeBytes: number;
  /** Digest of all parts, by which each can be known as one of them: 32 hexadecimal digits. */
  readonly partsDigest: string;
  /** How rows are converted, as the command line said. */
  readonly conversion: unknown;
}

/** The message that a worker takes. */
export interface JobPart {
  readonly job: string;
  /** From 1. */
  readonly part: number;
  /** Relative to the shared folder. */
  readonly input: string;
  /** State of the whole input when the job was submitted. */
  readonly file: { readonly sizeBytes: number; readonly modifiedMs: number };
  /** The part of the input; null for all of it. */
  readonly range: unknown;
  /** Size of the input that belongs to the part; in a file that is cut by rows a share of its size. */
  readonly sizeBytes: number;
  /** Formats of input and output. */
  readonly from: string;
  readonly to: string;
  /** Relative to the output folder. */
  readonly output: string;
  /** Shows with the digest of the plan that the job has this part. */
  readonly proof: string;
}

/** The outcome of a part. The first that is stored holds. */
export interface PartResult {
  readonly job: string;
  readonly part: number;
  readonly input: string;
  readonly range: unknown;
  readonly inputBytes: number;
  readonly elapsedMs: number;
  readonly worker: string;
  /** null for a part that could not be converted. */
  readonly output: PartOutput | null;
  /** Why it could not be converted. */
  readonly reason: string | null;
}

export interface PartOutput {
  /** Relative to the output folder. */
  readonly name: string;
  readonly rows: number;
  /** Rows without a code or a position, by their status. */
  readonly failed: Readonly<Record<string, number>>;
  readonly sizeBytes: number;
  readonly sha256: string;
}
