// Reads the head of a /bulk request, before its body: formats from Content-Type and Accept, gzip in both directions,
// resolution, columns and prefix from the query. The format of a form is that of the file in it, which comes later.

import { EXTRA_NAMES, type ExtraName, extrasWhere, forExtras } from '../../hexcodes/extras.js';
import { DELIMITER_WORDS } from '../../hexcodes/wire/bulk/csv-header.js';
import type { BulkFormat, BulkRequest, Delimiter, Operation } from '../../hexcodes/wire/job.js';
import { queryHint } from '../../hexcodes/wire/params/names.js';
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { booleanFault, type Parameter, readQuery } from '../../hexcodes/wire/params/query.js';
import { faultsMessage } from '../http/answers.js';
import { acceptedTypes, encodingFor, qualityOf, utf8TypeOf, wantsErrorsOnly } from '../http/negotiation.js';
import { AFTER_BODY } from '../transport/request-head.js';
import { boundaryOf, FormBodyError, type PartHead } from './multipart.js';

const TSV = 'text/tab-separated-values';
const FORM = 'multipart/form-data';
/** A media type of bodies. */
interface BodyType {
  readonly format: BulkFormat;
  readonly delimiter?: Delimiter;
  /** Extensions of files of this type. */
  readonly extensions: readonly string[];
}
const BODY_TYPES: Readonly<Record<string, BodyType>> = {
  'application/x-ndjson': { format: 'ndjson', extensions: ['ndjson', 'jsonl'] },
  'text/csv': { format: 'csv', extensions: ['csv'] },
  [TSV]: { format: 'csv', delimiter: '\t', extensions: ['tsv', 'tab'] },
  'application/vnd.hexcodes.frames': { format: 'frames', extensions: ['frames'] },
};
const TYPES = Object.keys(BODY_TYPES);
const KNOWN_TYPES = TYPES.join(', ');
/** Types that programs give to files of unknown format. */
const VAGUE_TYPES = ['', 'application/octet-stream', 'text/plain', 'application/vnd.ms-excel'];
const TABLE_PARAMETERS = ['prefix', 'delimiter'] as const;
const PARAMETERS = {
  encode: ['resolution', ...TABLE_PARAMETERS, ...EXTRA_NAMES, 'lat', 'lng'],
  decode: [...TABLE_PARAMETERS, 'column'],
} as const;
const ALL_PARAMETERS = [...PARAMETERS.encode, 'column'] as const;
/** Characters that need no quoting in any format. */
const PREFIX = /^[A-Za-z0-9_.-]{0,64}$/;

/** The conversion that a request asks for, and the type of its answer. */
export interface Conversion {
  readonly request: BulkRequest;
  /** The Content-Type of the answer. */
  readonly answerType: string;
}

export interface ParsedBulkRequest {
  /** Undefined until the file of a form has begun. */
  conversion: Conversion | undefined;
  /** Present where the body is a form. */
  readonly form?: {
    readonly boundary: string;
    /** Finds the conversion. @throws FormBodyError where the file is of no known format, or the request has a fault */
    readonly open: (file: PartHead) => Conversion;
  };
  /** About parameters that do not exist; empty where there are none. */
  readonly hint: string;
  /** Bits of EXTRAS that are requested. */
  readonly extras: number;
  readonly gzipIn: boolean;
  readonly gzipOut: boolean;
  /** Whether the answer begins only after the whole body. */
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
  const type = utf8TypeOf(headers.contentType);
  const boundary = type === FORM ? boundaryOf(headers.contentType) : undefined;
  if (type === FORM && boundary === undefined) {
    return { status: 400, message: `the Content-Type ${FORM} names no boundary` };
  }
  if (type !== FORM && (type === undefined || !TYPES.includes(type))) {
    return {
      status: 415,
      message: `the body must be one of ${KNOWN_TYPES}, or one such file in ${FORM}, in UTF-8, named by Content-Type`,
    };
  }
  const coding = headers.contentEncoding.trim().toLowerCase();
  const gzipIn = coding === 'gzip' || coding === 'x-gzip';
  if (!gzipIn && coding !== '' && coding !== 'identity') {
    return { status: 415, message: 'the only Content-Encoding understood is gzip' };
  }
  const known = PARAMETERS[operation];
  const asked = readQuery(headers.rawQuery, EXTRA_NAMES, known);
  const parsed = {
    hint: queryHint(headers.rawQuery, ['apikey', ...known]),
    extras: extrasWhere((name) => asked[name].text === 'true'),
    gzipIn,
    gzipOut: encodingFor(headers.acceptEncoding, ['gzip']) === 'gzip',
    isHeld: headers.answer === AFTER_BODY,
  };
  const conversion = readConversion(operation, headers, type === FORM ? undefined : type);
  if (conversion !== undefined && 'status' in conversion) return conversion;
  if (boundary === undefined) return { ...parsed, conversion };
  const open = (file: PartHead): Conversion => {
    const found = readConversion(operation, headers, typeOfFile(file));
    if (found === undefined) throw new Error('a file without a type');
    if ('status' in found) throw new FormBodyError(found.message, found.status);
    return found;
  };
  return { ...parsed, conversion: undefined, form: { boundary, open } };
}

/** @param type of the body; undefined while it is unknown, and then only faults that do not depend on it are found */
function readConversion(
  operation: Operation,
  { accept, answer, rawQuery }: BulkHeaders,
  type: string | undefined,
): Conversion | BulkRefusal | undefined {
  const input = type === undefined ? undefined : BODY_TYPES[type];
  const outputType = type === undefined ? undefined : answerTypeOf(accept, type);
  if (type !== undefined && outputType === undefined) {
    return { status: 406, message: `the Accept header refuses all of ${answerTypesOf(type).join(', ')}` };
  }
  const output = outputType === undefined ? undefined : BODY_TYPES[outputType];
  const query = readQuery(rawQuery, ALL_PARAMETERS, PARAMETERS[operation]);
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
  const named = query.delimiter.text === undefined ? undefined : DELIMITER_WORDS.get(query.delimiter.text);
  const ofType = input?.delimiter ?? output?.delimiter;
  if (query.delimiter.fault !== undefined || (query.delimiter.text !== undefined && named === undefined)) {
    refuse('delimiter', query.delimiter, 'must be comma, semicolon, tab or pipe');
  } else if (named !== undefined && ofType !== undefined && named !== ofType) {
    refuse('delimiter', query.delimiter, `must be tab, or absent, beside ${TSV}`);
  }
  const isAsked = (name: ExtraName): boolean => {
    const parameter = query[name];
    const fault = booleanFault(parameter);
    const isTrue = parameter.text === 'true';
    if (fault !== undefined) refuse(name, parameter, fault);
    else if (isTrue && output?.format === 'frames')
      refuse(name, parameter, 'needs an answer in text/csv or application/x-ndjson');
    return isTrue;
  };
  const extras = forExtras(isAsked);
  const columnOf = (name: 'lat' | 'lng' | 'column'): string | undefined => {
    const { text, fault } = query[name];
    if (fault !== undefined || text === '')
      refuse(name, query[name], 'must be the name or number of a column');
    else if (text !== undefined && input !== undefined && input.format !== 'csv')
      refuse(name, query[name], `names a column, which only text/csv and ${TSV} have`);
    return text;
  };
  const [lat, lng, hexcodes] = [columnOf('lat'), columnOf('lng'), columnOf('column')];
  if (answer !== '' && answer !== AFTER_BODY) {
    faults.push({ parameter: 'Hexcodes-Answer', message: `must be ${AFTER_BODY}, or absent` });
  }
  if (faults.length > 0) {
    return { status: 400, message: faultsMessage(faults), faults };
  }
  if (input === undefined || output === undefined || outputType === undefined) return undefined;
  const delimiter = named ?? ofType;
  const request: BulkRequest = {
    operation,
    input: input.format,
    output: output.format,
    resolution: resolution.text === undefined ? DEFAULT_RESOLUTION : Number(resolution.text),
    prefix: prefix.text ?? '',
    columns: {
      ...(lat === undefined ? {} : { lat }),
      ...(lng === undefined ? {} : { lng }),
      ...(hexcodes === undefined ? {} : { hexcodes }),
    },
    ...extras,
    ...(delimiter === undefined ? {} : { delimiter }),
  };
  return { request, answerType: output.format === 'csv' ? `${outputType}; charset=utf-8` : outputType };
}

/** @throws FormBodyError for a part whose type and name are of no known format */
function typeOfFile({ name, fileName, contentType }: PartHead): string {
  const type = utf8TypeOf(contentType);
  if (type !== undefined && TYPES.includes(type)) return type;
  const extension = /\.([a-z]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  const byName = TYPES.find((each) => BODY_TYPES[each]!.extensions.includes(extension));
  if (type !== undefined && VAGUE_TYPES.includes(type) && byName !== undefined) return byName;
  if (fileName === '' && contentType === '') {
    throw new FormBodyError(
      `the part ${JSON.stringify(name)} is not a file: parameters are read from the query, and the form has one file`,
    );
  }
  throw new FormBodyError(
    `the file of the form must be one of ${KNOWN_TYPES}, in UTF-8, named by its Content-Type or extension`,
    415,
  );
}

/** Types of the answer to a body. Rows of CSV pass unchanged, so CSV and TSV are not converted to each other. */
function answerTypesOf(type: string): readonly string[] {
  const isTable = BODY_TYPES[type]?.format === 'csv';
  return [
    type,
    ...TYPES.filter((other) => other !== type && !(isTable && BODY_TYPES[other]!.format === 'csv')),
  ];
}

/** The accepted type of the highest quality; of equal ones, and without an Accept header, the type of the body. */
function answerTypeOf(accept: string, type: string): string | undefined {
  const accepted = acceptedTypes(accept);
  // Generated clients accept `application/json` alone, as that is the type of every error.
  if (wantsErrorsOnly(accepted, type)) return type;
  const quality = (each: string): number => qualityOf(each, accepted);
  const best = answerTypesOf(type).reduce((a, b) => (quality(b) > quality(a) ? b : a));
  return quality(best) > 0 ? best : undefined;
}
