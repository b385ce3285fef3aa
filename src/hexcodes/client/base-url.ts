// The base address of the service as callers write it.
import { HexcodesClientError } from './errors.js';

/**
 * The address with a slash at its end. A text that begins with a slash is resolved against the page.
 * @throws HexcodesClientError BAD_ARGUMENT where it is no address over HTTP
 */
export function baseUrlOf(given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== 'string') throw refused(text, 'it is no text');
  const { location } = globalThis as { location?: { readonly href: string } };
  let url: URL;
  try {
    url = text.startsWith('/') && location !== undefined ? new URL(text, location.href) : new URL(text);
  } catch {
    const isPath = text === '' || text.startsWith('/');
    throw refused(text, isPath ? 'there is no page whose address it could belong to' : 'it is no address');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(text, 'it does not begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new HexcodesClientError('BAD_ARGUMENT', 'baseUrl holds a user name: a proxy key cannot go there');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}

function refused(given: unknown, reason: string): HexcodesClientError {
  const shown = typeof given === 'string' ? JSON.stringify(given) : String(given);
  return new HexcodesClientError(
    'BAD_ARGUMENT',
    `baseUrl ${shown} cannot be used, ${reason}: it reads like http://127.0.0.1:8080/v1`,
  );
}
