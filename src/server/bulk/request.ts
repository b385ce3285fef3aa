// What a /bulk request asks for: formats from Content-Type and Accept, gzip both ways, resolution and prefix from the
// query. Everything that is wrong with it is found here, before the body is looked at.
import type { BulkFormat, BulkRequest, Operation } from '../../wire/job.js';
import type { ParameterFault } from '../../wire/params/parameters.js';
import { type Parameter, readQuery } from '../../wire/params/query.js';

const MEDIA_TYPES: Readonly<Record<BulkFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  frames: 'application/vnd.hexcodes.frames',
};
/** Of answers. */
export const CONTENT_TYPES: Readonly<Record<BulkFormat, string>> = {
  ...MEDIA_TYPES,
  csv: `${MEDIA_TYPES.csv}; charset=utf-8`,
};
const FORMATS = Object.keys(MEDIA_TYPES) as BulkFormat[];
const KNOWN_TYPES = FORMATS.map((format) => MEDIA_TYPES[format]).join(', ');
const DEFAULT_RESOLUTION = 13;
/** Letters that need no quoting in any format. */
const PREFIX = /^[A-Za-z0-9_.-]{0,64}$/;

export interface BulkAsk {
  readonly request: BulkRequest;
  readonly gzipIn: boolean;
  readonly gzipOut: boolean;
}

/** Why a request cannot be served, as an HTTP status and a sentence. */
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
  readonly rawQuery: string;
}

export function readBulkAsk(operation: Operation, headers: BulkHeaders): BulkAsk | BulkRefusal {
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
  const output = wantedFormat(headers.accept, input);
  if (output === undefined) {
    return { status: 406, message: `the Accept header refuses all of ${KNOWN_TYPES}` };
  }
  const { resolution, prefix } = readQuery(headers.rawQuery, ['resolution', 'prefix']);
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
  if (faults.length > 0) {
    const message = faults.map((fault) => `${fault.parameter} ${fault.message}`).join('; ');
    return { status: 400, message, faults };
  }
  return {
    request: {
      operation,
      input,
      output,
      resolution: resolution.text === undefined ? DEFAULT_RESOLUTION : Number(resolution.text),
      prefix: prefix.text ?? '',
    },
    gzipIn,
    gzipOut: isGzipWanted(headers.acceptEncoding),
  };
}

function formatOf(contentType: string): BulkFormat | undefined {
  const match = /^\s*([^;\s]+)\s*((?:;[^;]*)*)$/.exec(contentType.toLowerCase());
  const charset = /;\s*charset\s*=\s*"?([^;"\s]*)/.exec(match?.[2] ?? '')?.[1] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') return undefined;
  return FORMATS.find((format) => MEDIA_TYPES[format] === match?.[1]);
}

interface Preference {
  readonly name: string;
  readonly quality: number;
}

/** The entries of Accept or Accept-Encoding; what cannot be read counts as wanted in full. */
function preferences(header: string): Preference[] {
  return header
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.map((p) => /^q\s*=\s*([\d.]+)$/.exec(p)?.[1]).find((q) => q !== undefined);
      return { name, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ name }) => name !== '');
}

/** The format that the peer likes best; of several, that of the input, so that nothing is asked of those who do not care. */
function wantedFormat(accept: string, input: BulkFormat): BulkFormat | undefined {
  const entries = preferences(accept);
  if (entries.length === 0) return input;
  const qualityOf = (format: BulkFormat): number => {
    const type = MEDIA_TYPES[format];
    const group = `${type.slice(0, type.indexOf('/'))}/*`;
    // The most specific entry that names a type decides about it.
    const entry = [type, group, '*/*'].map((name) => entries.find((e) => e.name === name)).find((e) => e);
    return entry?.quality ?? 0;
  };
  const order = [input, ...FORMATS.filter((format) => format !== input)];
  const best = order.reduce((a, b) => (qualityOf(b) > qualityOf(a) ? b : a));
  return qualityOf(best) > 0 ? best : undefined;
}

function isGzipWanted(acceptEncoding: string): boolean {
  const entries = preferences(acceptEncoding);
  const entry = entries.find(({ name }) => name === 'gzip') ?? entries.find(({ name }) => name === '*');
  return entry !== undefined && entry.quality > 0;
}
