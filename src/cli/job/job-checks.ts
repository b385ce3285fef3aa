// Checks of the members of plans and parts that say how files are converted: the values that `job submit` writes, and
// no others.
import type { ConversionChecks } from '../../bus/jobs/read-job.js';
import { type Check, flag, list, object, oneOf, orNull, SchemaFault, text, whole } from '../../bus/schema.js';
import type { FilePart } from '../../files/disk/file-part.js';
import { FILE_FORMATS, type FileFormat } from '../../files/format.js';
import type { JobConversion } from './job-conversion.js';

const MOST_NAME = 131_072;
const MOST_COLUMNS = 65_536;
const MOST_PART_NUMBER = 10_000_000;

const format: Check<FileFormat> = oneOf(FILE_FORMATS);
const name = text(MOST_NAME);
const names = list(name, MOST_COLUMNS);

/** The name of an encoding as the Encoding Standard has it. */
const encoding: Check<string> = (value, member) => {
  const label = text(64)(value, member);
  try {
    if (new TextDecoder(label).encoding === label) return label;
  } catch {
    // Told below.
  }
  throw new SchemaFault(`${member} must be the name of an encoding`);
};

const conversion: Check<JobConversion> = object(
  {
    operation: oneOf(['encode', 'decode']),
    ...{ from: orNull(format), to: orNull(format), resolution: whole(0, 15), isFormer: flag },
    columns: object(
      { prefix: name },
      { lat: name, lng: name, position: name, code: name, keep: names, drop: names },
    ),
    csv: object({
      delimiter: orNull(oneOf([',', ';', '\t', '|'])),
      ...{ decimal: oneOf(['.', ',']), hasHeader: flag },
    }),
    input: object({}, { encoding, sheet: name }),
    // A file of failed rows has a path, which no message may name.
    errors: object({ kind: oneOf(['keep', 'skip', 'stop']) }),
  },
  { hasCertainty: flag },
);

const number = whole(1, MOST_PART_NUMBER);

const range =
  (fileBytes: number): Check<FilePart> =>
  (value, member) => {
    const offset = whole(0, fileBytes);
    const isBytes = typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'bytes';
    const read: FilePart = isBytes
      ? object({ kind: oneOf(['bytes']), number, headBytes: offset, start: offset, end: offset })(
          value,
          member,
        )
      : object({ kind: oneOf(['rows']), number, start: whole(0), end: whole(0) })(value, member);
    const isInOrder = read.start <= read.end && (read.kind === 'rows' || read.headBytes <= read.start);
    if (!isInOrder) throw new SchemaFault(`${member} must not end before it starts`);
    return read;
  };

export const JOB_CHECKS: ConversionChecks = { conversion, range, format };
