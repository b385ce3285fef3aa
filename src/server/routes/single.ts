// Encode and decode of one position or code. Without a body the answer is made in the first tick, so that pipelined
// requests are all answered; a JSON or form body is at most 16 KiB and answered with its last byte.

import { decimalText } from '../../wire/params/number.js';
import { decodeFaults, EncodeInput, SingleParameters } from '../../wire/params/parameters.js';
import { acceptsJson, faultsMessage, JSON_TYPE } from '../answers.js';
import { ENCODE_PATH, fail, failTooLarge, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';

/** One conversion at a time, by the kernel of this thread. */
export interface Converter {
  /** Point status; the code is in `code` if it is 0. */
  encode(latDeg: number, lngDeg: number, resolution: number): number;
  readonly code: string;
  /** Whether the text is a hexcode; its centre is in latDeg, lngDeg, resolution if it is. */
  decode(text: string): boolean;
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
}

export const SINGLE_BODY_BYTES = 16_384;
export const DECODE_PATH = '/v1/hexcodes/decode';

export function addConversions(router: Router, converter: Converter): void {
  const inTick = new SingleParameters();
  const input = new EncodeInput();

  function encode(x: Exchange, parameters: SingleParameters): void {
    input.read(parameters);
    const { latDeg, lngDeg, resolution, faults } = input;
    if (faults !== undefined) {
      const hint = swapped(converter, latDeg, lngDeg)
        ? '. lat and lng look swapped: the other way round the position lies in Vietnam'
        : '';
      fail(x, 400, faultsMessage(faults) + hint, { faults, input });
      return;
    }
    if (converter.encode(latDeg, lngDeg, resolution) !== 0) {
      fail(x, 404, 'the position lies in no province of Vietnam nor in its coastal sea', { input });
      return;
    }
    const { code } = converter;
    const admin = code.slice(0, code.charCodeAt(2) === 45 ? 2 : 3);
    const lat = decimalText(parameters.lat.text as string, latDeg);
    const lng = decimalText(parameters.lng.text as string, lngDeg);
    x.send(
      200,
      JSON_TYPE,
      `{"hexcodes":"${code}","lat":${lat},"lng":${lng},"resolution":${resolution},"admin_code":"${admin}","status":"OK"}`,
    );
  }

  function decode(x: Exchange, parameters: SingleParameters): void {
    const faults = decodeFaults(parameters);
    if (faults !== undefined) {
      fail(x, 400, faultsMessage(faults), { faults });
      return;
    }
    const text = parameters.hexcodes.text as string;
    x.send(200, JSON_TYPE, decodeBody(converter, text));
  }

  router.add({
    path: ENCODE_PATH,
    methods: ['GET', 'POST'],
    access: 'key',
    handle: (x) => withParameters(x, inTick, encode),
  });
  router.add({
    path: DECODE_PATH,
    methods: ['GET', 'POST'],
    access: 'key',
    handle: (x) => withParameters(x, inTick, decode),
  });
}

function decodeBody(converter: Converter, text: string): string {
  const echo = JSON.stringify(text);
  if (!converter.decode(text)) {
    return `{"lat":null,"lng":null,"resolution":null,"hexcodes":${echo},"status":"INVALID_HEXCODES"}`;
  }
  const { latDeg, lngDeg, resolution } = converter;
  return `{"lat":${latDeg},"lng":${lngDeg},"resolution":${resolution},"hexcodes":${echo},"status":"OK"}`;
}

/** Whether the position would be encoded with its two numbers exchanged. */
function swapped(converter: Converter, latDeg: number, lngDeg: number): boolean {
  return Math.abs(lngDeg) <= 90 && Math.abs(latDeg) <= 180 && converter.encode(lngDeg, latDeg, 0) === 0;
}

/** Collects the parameters of query and body and hands them on; answers 406, 413, 415 and unreadable bodies. */
function withParameters(
  x: Exchange,
  inTick: SingleParameters,
  work: (x: Exchange, parameters: SingleParameters) => void,
): void {
  if (!acceptsJson(x.accept)) {
    fail(x, 406, 'the answer is application/json, which the Accept header refuses');
    return;
  }
  if (x.bodySizeBytes === 0) {
    inTick.clear();
    inTick.addQuery(x.rawQuery);
    work(x, inTick);
    return;
  }
  const form = bodyForm(x.contentType);
  x.readBody(
    SINGLE_BODY_BYTES,
    () => failTooLarge(x, SINGLE_BODY_BYTES),
    (body) => {
      const parameters = new SingleParameters();
      parameters.addQuery(x.rawQuery);
      if (body.length > 0) {
        if (form === undefined) {
          fail(x, 415, 'a body must be application/json or application/x-www-form-urlencoded, in UTF-8');
          return;
        }
        const fault = addBody(parameters, form, body);
        if (fault !== undefined) {
          fail(x, 400, `the body ${fault}`, { faults: [{ parameter: 'body', message: fault }] });
          return;
        }
      }
      work(x, parameters);
    },
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Why the body cannot be read, if it cannot. */
function addBody(parameters: SingleParameters, form: 'json' | 'form', body: Uint8Array): string | undefined {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return 'is not valid UTF-8';
  }
  if (form === 'form') parameters.addQuery(text);
  else if (!parameters.addJson(text)) return 'is not one JSON object';
  return undefined;
}

/** How a body of this Content-Type is read; undefined if it is not. */
function bodyForm(contentType: string): 'json' | 'form' | undefined {
  const match = /^\s*([^;\s]+)\s*((?:;[^;]*)*)$/.exec(contentType.toLowerCase());
  const charset = /;\s*charset\s*=\s*"?([^;"\s]*)/.exec(match?.[2] ?? '')?.[1] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') return undefined;
  if (match?.[1] === 'application/json') return 'json';
  return match?.[1] === 'application/x-www-form-urlencoded' ? 'form' : undefined;
}
