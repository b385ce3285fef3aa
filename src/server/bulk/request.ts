// Reads the head of a /bulk request, before its body: formats from Content-Type and Accept, gzip in both directions,
// resolution and prefix from the query.
import type { BulkFormat, BulkRequest, Delimiter, Operation } from '../../hexcodes/wire/job.js';
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import { booleanFault, type ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { type Parameter, readQuery } from '../../hexcodes/wire/params/query.js';
import { faultsMessage } from '../answers.js';
import { preferences, qualityOf, utf8TypeOf } from '../media-types.js';
import { AFTER_BODY } from '../transport/request-head.js';

const MEDIA_TYPES: Readonly<Record<BulkFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  frames: 'application/vnd.hexcodes.frames',
};
/** The Content-Type of answers. */
export const CONTENT_TYPES: Readonly<Record<BulkFormat, string>> = {
  ...MEDIA_TYPES,
  csv: `${MEDIA_TYPES.csv}; charset=utf-8`,
};
const FORMATS = Object.keys(MEDIA_TYPES) as BulkFormat[];
const KNOWN_TYPES = FORMATS.map((format) => MEDIA_TYPES[format]).join(', ');
/** Values of the parameter `delimiter`: characters, and words for what is awkward in a URL. */
const DELIMITER_WORDS: Readonly<Record<string, Delimiter>> = {
  ',': ',',
  ';': ';',
  '\t': '\t',
  '|': '|',
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};
/** Characters that need no quoting in any format. */
const PREFIX = /^[A-Za-z0-9_.-]{0,64}$/;

export interface ParsedBulkRequest {
  readonly request: BulkRequest;
  readonly gzipIn: boolean;
  readonly gzipOut: boolean;
  /** The answer begins when the whole body has come. */
  readonly isHeld: boolean;
}

/** The error answer to a request that cannot be served. */
export interface BulkRefusal {
  readonly status: 400 | 406 | 415;
  readonly message: string;
  readonly faults?: readonly ParameterFault[];
}

export interface BulkHeaders {
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly accept: string;
  readonly acceptEncoding: string;
  /** Value of the header Hexcodes-Answer, in lower case. */
  readonly answer: string;
  readonly rawQuery: string;
}

export function readBulkRequest(operation: Operation, headers: BulkHeaders): ParsedBulkRequest | BulkRefusal {
  const input = formatOf(headers.contentType);
  if (input === undefined) {
    return {
      status: 415,
      message: `the body must be one of ${KNOWN_TYPES}, in UTF-8, named by Content-Type`,
    };
  }
  const coding = headers.contentEncoding.trim().toLowerCase();
  const gzipIn = coding === 'gzip' || coding === 'x-gzip';
  if (!gzipIn && coding !== '' && coding !== 'identity') {
    return { status: 415, message: 'the only Content-Encoding understood is gzip' };
  }
  const output = outputFormat(headers.accept, input);
  if (output === undefined) {
    return { status: 406, message: `the Accept header refuses all of ${KNOWN_TYPES}` };
  }
  const query = readQuery(headers.rawQuery, ['resolution', 'prefix', 'delimiter', 'former', 'certainty']);
  const { resolution, prefix } = query;
  const faults: ParameterFault[] = [];
  const refuse = (parameter: string, { fault }: Parameter, rule: string): void => {
    faults.push({ parameter, message: fault ?? rule });
  };
  const isResolution = resolution.text === undefined || /^(\d|1[0-5])$/.test(resolution.text);
  if (resolution.fault !== undefined || !isResolution) {
    refuse('resolution', resolution, 'must be an integer from 0 to 15');
  }
  if (prefix.fault !== undefined || !PREFIX.test(prefix.text ?? '')) {
    refuse('prefix', prefix, 'must be at most 64 letters, digits, dots, hyphens or underscores');
  }
  const delimiter = query.delimiter.text === undefined ? undefined : DELIMITER_WORDS[query.delimiter.text];
  if (
    query.delimiter.fault !== undefined ||
    (query.delimiter.text !== undefined && delimiter === undefined)
  ) {
    refuse('delimiter', query.delimiter, 'must be comma, semicolon, tab or pipe');
  }
  const isAsked = (name: 'former' | 'certainty'): boolean => {
    if (operation !== 'encode') return false;
    const parameter = query[name];
    const fault = booleanFault(parameter);
    const isTrue = parameter.text === 'true';
    if (fault !== undefined) refuse(name, parameter, fault);
    else if (isTrue && output === 'frames')
      refuse(name, parameter, 'needs an answer in text/csv or application/x-ndjson');
    return isTrue;
  };
  const former = isAsked('former');
  const certainty = isAsked('certainty');
  const { answer } = headers;
  if (answer !== '' && answer !== AFTER_BODY) {
    faults.push({ parameter: 'Hexcodes-Answer', message: `must be ${AFTER_BODY}, or absent` });
  }
  if (faults.length > 0) {
    return { status: 400, message: faultsMessage(faults), faults };
  }
  return {
    request: {
      operation,
      input,
      output,
      resolution: resolution.text === undefined ? DEFAULT_RESOLUTION : Number(resolution.text),
      prefix: prefix.text ?? '',
      former,
      certainty,
      ...(delimiter === undefined ? {} : { delimiter }),
    },
    gzipIn,
    gzipOut: acceptsGzip(headers.acceptEncoding),
    isHeld: answer === AFTER_BODY,
  };
}

function formatOf(contentType: string): BulkFormat | undefined {
  const type = utf8TypeOf(contentType);
  return FORMATS.find((format) => MEDIA_TYPES[format] === type);
}

/** The accepted format of the highest quality; of equal ones, and without an Accept header, that of the input. */
function outputFormat(accept: string, input: BulkFormat): BulkFormat | undefined {
  const accepted = preferences(accept);
  if (accepted.length === 0) return input;
  const quality = (format: BulkFormat): number => qualityOf(MEDIA_TYPES[format], accepted);
  const order = [input, ...FORMATS.filter((format) => format !== input)];
  const best = order.reduce((a, b) => (quality(b) > quality(a) ? b : a));
  return quality(best) > 0 ? best : undefined;
}

function acceptsGzip(acceptEncoding: string): boolean {
  const accepted = preferences(acceptEncoding);
  const entry = accepted.find(({ name }) => name === 'gzip') ?? accepted.find(({ name }) => name === '*');
  return entry !== undefined && entry.quality > 0;
}
