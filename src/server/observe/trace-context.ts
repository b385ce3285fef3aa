// W3C Trace Context (https://www.w3.org/TR/trace-context/), read strictly: a header that breaks the standard counts as
// absent, as it demands. So what is logged and exported is hexadecimal, and cannot be a key.

export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** Id of the caller's span: 16 such digits. */
  readonly parentId: string;
  /** The caller records its part. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED_FLAG = 1;

/**
 * Undefined for a header that is absent, sent twice, or breaks the standard. Of later versions the known part is read.
 */
export function readTraceparent(text: string): TraceContext | undefined {
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0*$/.test(traceId) || /^0*$/.test(parentId)) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 };
}

const MOST_MEMBERS = 32;
const MOST_CHARACTERS = 512;
const MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The members of a tracestate, in order and joined by commas; '' for one that is absent or breaks the standard. */
export function readTracestate(text: string): string {
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const names = new Set(members.map((member) => member.split('=', 1)[0]));
  const isKept =
    members.length <= MOST_MEMBERS &&
    names.size === members.length &&
    members.every((member) => MEMBER.test(member));
  const joined = members.join(',');
  return isKept && joined.length <= MOST_CHARACTERS ? joined : '';
}
