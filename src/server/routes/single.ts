// Encode and decode of one position or code, by the kernel of this thread. A request without a body is answered in the
// handler, so that pipelined requests are all answered; a JSON or form body in the callback that brings its last byte.

import { EXTRA_NAMES, EXTRAS, extraFault } from '../../hexcodes/extras.js';
import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import { READ_RESOLUTION_AT, RECORD_TEXT_BYTES } from '../../hexcodes/kernel/output-layout.js';
import { WITH_CERTAINTY, WITH_FORMER } from '../../hexcodes/kernel/text-memory.js';
import { looksSwapped, type Operation, OUTSIDE_MESSAGE, SWAPPED_HINT } from '../../hexcodes/wire/job.js';
import { decimalText } from '../../hexcodes/wire/params/number.js';
import { decodeFaults, EncodeInput, SingleParameters } from '../../hexcodes/wire/params/parameters.js';
import { booleanFault } from '../../hexcodes/wire/params/query.js';
import { borderMembers, formerMember } from '../../hexcodes/wire/rows/host-row.js';
import { faultsMessage, JSON_TYPE } from '../http/answers.js';
import { type Exchange, encodeOne } from '../http/exchange.js';
import { isJson, requireJson, utf8TypeOf } from '../http/negotiation.js';
import { DECODE_PATH, ENCODE_PATH, fail, type Route, readWhole } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';

const MAX_BODY_BYTES = 16_384;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const HYPHEN = 45;

interface SingleDeps {
  readonly kernel: Kernel;
  /** Whether the log has the position or code of each call. */
  readonly logsPositions: boolean;
}

export function singleRoutes({ kernel, logsPositions }: SingleDeps): Route[] {
  const input = new EncodeInput();
  const { buffer, byteOffset } = kernel.output;
  const codeBytes = Buffer.from(buffer, byteOffset, RECORD_TEXT_BYTES);

  /** Bits of the extras that the answer is to have; adds the faults of their parameters to `input`. */
  function extrasWanted(parameters: SingleParameters): number {
    let wanted = 0;
    for (const name of EXTRA_NAMES) {
      const parameter = parameters[name];
      if (!parameter.isGiven) continue;
      const { bit } = EXTRAS[name];
      const isWanted = parameter.fault === undefined && parameter.text === 'true';
      const fault = isWanted ? extraFault(bit, kernel)?.message : booleanFault(parameter);
      if (fault !== undefined) input.add(name, fault);
      if (isWanted) wanted |= bit;
    }
    return wanted;
  }

  /** The members of extras, each with a comma after it. */
  function extraMembers(extras: number, latDeg: number, lngDeg: number): string {
    if (extras === 0) return '';
    const { exports, formerProvinces } = kernel;
    const unit = (extras & WITH_FORMER) === 0 ? undefined : exports.unitOf(latDeg, lngDeg);
    const province = unit === undefined ? '' : formerMember(formerProvinces?.[unit] ?? null);
    const border = (extras & WITH_CERTAINTY) === 0 ? '' : borderMembers(kernel.borderAt(latDeg, lngDeg));
    return province + border;
  }

  function encode(x: Exchange, parameters: SingleParameters, isAdmitted = false): void {
    input.read(parameters);
    addHint(x, parameters);
    const extras = extrasWanted(parameters);
    const { latDeg, lngDeg, resolution, faults } = input;
    if (faults !== undefined) {
      const hint = looksSwapped(kernel, latDeg, lngDeg) ? SWAPPED_HINT : nameHint(parameters);
      fail(x, 400, faultsMessage(faults) + hint, { faults, input });
      return;
    }
    const later = (): void => encode(x, parameters, true);
    if (!isAdmitted && !admitPoints(x, 1, later, input)) return;
    const isOk = encodeOne(x, kernel, latDeg, lngDeg, resolution, logsPositions);
    if (!isOk) {
      fail(x, 404, OUTSIDE_MESSAGE, { input });
      return;
    }
    const code = codeText(codeBytes);
    const admin = code.slice(0, code.charCodeAt(2) === HYPHEN ? 2 : 3);
    const members = extraMembers(extras, latDeg, lngDeg);
    const lat = decimalText(parameters.latGiven.text as string, latDeg);
    const lng = decimalText(parameters.lngGiven.text as string, lngDeg);
    x.send(
      200,
      JSON_TYPE,
      `{"hexcodes":"${code}","lat":${lat},"lng":${lng},"resolution":${resolution},"admin_code":"${admin}",${members}"status":"OK"}`,
      x.notes.hint,
    );
  }

  function decode(x: Exchange, parameters: SingleParameters, isAdmitted = false): void {
    const faults = decodeFaults(parameters);
    addHint(x, parameters);
    if (faults !== undefined) {
      fail(x, 400, faultsMessage(faults) + nameHint(parameters), { faults });
      return;
    }
    const later = (): void => decode(x, parameters, true);
    if (!isAdmitted && !admitPoints(x, 1, later)) return;
    const text = parameters.hexcodes.text as string;
    const isOk = kernel.readText(text) === OK;
    x.notes.entry?.done(isOk ? 1 : 0, isOk ? 0 : 1);
    // A text that is not a code is not logged: it may be a key.
    if (logsPositions && isOk) x.notes.position = { hexcodes: text };
    x.send(200, JSON_TYPE, isOk ? decodedBody(kernel, text) : invalidBody(text), x.notes.hint);
  }

  return (
    [
      [ENCODE_PATH, 'encode', encode],
      [DECODE_PATH, 'decode', decode],
    ] as const
  ).map(([path, operation, answer]) => ({
    path,
    methods: ['GET', 'POST'],
    access: operation,
    operation,
    handle: (x) => withParameters(x, operation, answer),
  }));
}

/** Names that the operation does not have are ignored, and a header says so. */
function addHint(x: Exchange, parameters: SingleParameters): void {
  if (parameters.unknown !== undefined) x.notes.hint = `\r\nHexcodes-Hint: ${parameters.hint}`;
}

/** The hint of `Hexcodes-Hint`, appended to the message of an error. */
const nameHint = ({ unknown, hint }: SingleParameters): string => (unknown === undefined ? '' : `; ${hint}`);

/** A code ends at the first NUL of its record. */
function codeText(bytes: Buffer): string {
  let end = 0;
  while (end < bytes.length && bytes[end] !== 0) end++;
  return bytes.toString('latin1', 0, end);
}

function invalidBody(text: string): string {
  return `{"lat":null,"lng":null,"resolution":null,"hexcodes":${JSON.stringify(text)},"status":"INVALID_HEXCODES"}`;
}

/** The answer to a text that the kernel has just read. */
function decodedBody({ output, outputFloats }: Kernel, text: string): string {
  const echo = JSON.stringify(text);
  return `{"lat":${outputFloats[0]},"lng":${outputFloats[1]},"resolution":${output[READ_RESOLUTION_AT]},"hexcodes":${echo},"status":"OK"}`;
}

/** Calls `answer` with the parameters of query and body; answers 406, 413, 415 and unreadable bodies itself. */
function withParameters(
  x: Exchange,
  operation: Operation,
  answer: (x: Exchange, parameters: SingleParameters) => void,
): void {
  if (!requireJson(x)) return;
  const parameters = new SingleParameters(operation);
  parameters.addQuery(x.head.rawQuery);
  if (x.head.bodySizeBytes === 0) {
    answer(x, parameters);
    return;
  }
  const { contentType } = x.head;
  const type = isJson(contentType) ? JSON_TYPE : utf8TypeOf(contentType);
  readWhole(x, MAX_BODY_BYTES, (body) => {
    if (body.length > 0) {
      if (type !== JSON_TYPE && type !== FORM_TYPE) {
        fail(x, 415, 'a body must be application/json or application/x-www-form-urlencoded, in UTF-8');
        return;
      }
      const fault = addBody(parameters, type, body);
      if (fault !== undefined) {
        fail(x, 400, `the body ${fault}`, { faults: [{ parameter: 'body', message: fault }] });
        return;
      }
    }
    answer(x, parameters);
  });
}

/** `curl -d '{…}'` calls its body a form. */
const JSON_AS_FORM =
  'is JSON, and its Content-Type says that it is a form: send it with Content-Type: application/json';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Why the body cannot be read, if it cannot. */
function addBody(parameters: SingleParameters, type: string, body: Uint8Array): string | undefined {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return 'is not valid UTF-8';
  }
  if (type === FORM_TYPE && /^\s*[{[]/.test(text)) return JSON_AS_FORM;
  if (type === FORM_TYPE) parameters.addQuery(text);
  else if (!parameters.addJson(text)) return 'is not one JSON object';
  return undefined;
}
