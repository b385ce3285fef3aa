// A log line as a person at a terminal reads it: the time, what happened, and the rest as names and values.

/** Levels of pino that are named; others are usual. */
const LEVELS: Readonly<Record<number, string>> = { 40: 'WARN  ', 50: 'ERROR ', 60: 'FATAL ' };
/** Characters that a terminal obeys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const CONTROL = /[\0-\x1f\x7f-\x9f]/g;

/** @param json a line of the log, with its line end */
export function lineForPeople(json: string): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return json;
  }
  const { level, time, msg, service: _service, version: _version, ...rest } = fields;
  const { method, route, http_status: status, duration_ms: durationMs, ...others } = rest;
  const isRequest = method !== undefined && status !== undefined;
  const what = isRequest ? `${method} ${route ?? ''} ${status} in ${durationMs} ms` : msg;
  const more = Object.entries(isRequest ? others : rest).map(
    ([name, value]) => ` ${name}=${JSON.stringify(value)}`,
  );
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const line = `${clock}  ${LEVELS[Number(level)] ?? ''}${what}${more.join('')}`;
  return `${line.replace(CONTROL, '\u00b7')}\n`;
}
