// The calls that tell about one code or one province.
import { ADMIN_UNITS } from '../../admin-units.js';
import type { AdminUnitAnswer, AdminUnitRow, ReadAnswer, SuggestedCode } from '../answers.js';
import { HexcodesClientError } from '../errors.js';
import type { CallOptions, Position, SuggestCallOptions } from '../options.js';
import type { HttpCalls } from './calls.js';

/** The service reads no longer text, in UTF-16 units. */
const MAX_TEXT_UNITS = 64;
/** Suggestions that the service gives at most. */
const MOST_SUGGESTIONS = 10;

export async function readCode(http: HttpCalls, text: string, { signal }: CallOptions): Promise<ReadAnswer> {
  const segment = segmentOf(text);
  if (segment === undefined)
    return {
      status: 'INVALID_HEXCODES',
      hexcodes: text,
      message: `${JSON.stringify(text)} is not a hexcode`,
    };
  const answer = await http.get<ReadAnswer>(`hexcodes/${segment}`, signal);
  if (answer.status === 'OK') return answer;
  return { status: answer.status, hexcodes: text, message: answer.message };
}

export async function suggestCodes(
  http: HttpCalls,
  text: string,
  { near, limit = MOST_SUGGESTIONS, signal }: SuggestCallOptions,
): Promise<SuggestedCode[]> {
  const query = near === undefined ? '' : `?near=${nearOf(near)}`;
  const segment = segmentOf(text);
  if (segment === undefined) return [];
  const { suggestions } = await http.get<{ suggestions: SuggestedCode[] }>(
    `hexcodes/${segment}/suggestions${query}`,
    signal,
  );
  return suggestions.slice(0, limit);
}

export async function allAdminUnits(http: HttpCalls, { signal }: CallOptions): Promise<AdminUnitRow[]> {
  return (await http.get<{ admin_units: AdminUnitRow[] }>('admin-units', signal)).admin_units;
}

export async function oneAdminUnit(
  http: HttpCalls,
  code: string,
  { signal }: CallOptions,
): Promise<AdminUnitAnswer> {
  const segment = segmentOf(code);
  if (segment === undefined) throw noUnit(code);
  try {
    return await http.get<AdminUnitAnswer>(`admin-units/${segment}`, signal);
  } catch (error) {
    // The service answers an unknown province and an unknown path alike.
    const isAnswered = error instanceof HexcodesClientError && error.httpStatus === 404 && error.requestId;
    if (isAnswered && !ADMIN_UNITS.some((unit) => unit.code === code)) throw noUnit(code, error);
    throw error;
  }
}

function noUnit(code: string, cause?: HexcodesClientError): HexcodesClientError {
  return new HexcodesClientError(
    'NOT_FOUND',
    `there is no province or city of the code ${JSON.stringify(code)}`,
    {
      cause,
      httpStatus: cause?.httpStatus,
      requestId: cause?.requestId,
    },
  );
}

function nearOf(near: Position): string {
  const { lat, lng } = Array.isArray(near)
    ? { lat: near[0] as number, lng: near[1] as number }
    : ((near ?? {}) as { lat: number; lng: number });
  if (Number.isFinite(lat) && Number.isFinite(lng)) return `${lat},${lng}`;
  throw new HexcodesClientError('BAD_ARGUMENT', 'near is [lat, lng] or { lat, lng } in degrees');
}

/** A text as one segment of a path; undefined for a text that cannot be one, and is no code either. */
function segmentOf(text: string): string | undefined {
  if (typeof text !== 'string') throw new HexcodesClientError('BAD_ARGUMENT', 'a code is a text');
  // Dots would be steps in the path; a lone surrogate cannot be encoded.
  if (text === '' || text === '.' || text === '..' || text.length > MAX_TEXT_UNITS) return undefined;
  try {
    const escaped = encodeURIComponent(text);
    // "encode" and its like name other endpoints; with its first letter escaped it is a code like any other.
    return /^[a-z]+$/.test(text) ? `%${text.charCodeAt(0).toString(16)}${escaped.slice(1)}` : escaped;
  } catch {
    return undefined;
  }
}
