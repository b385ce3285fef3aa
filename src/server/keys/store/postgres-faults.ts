// Faults of the shared store, as sentences for people. None holds a credential.

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'takes no connections',
  ECONNRESET: 'has closed the connection',
  EPIPE: 'has closed the connection',
  ENOENT: 'is not there: its socket does not exist',
  ENOTFOUND: 'is not there: its name is unknown',
  EAI_AGAIN: 'is not there: its name cannot be looked up',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer',
  '28P01': 'refuses the password of HEXCODES_STORE',
  '28000': 'refuses the user of HEXCODES_STORE',
  '3D000': 'has no such database',
  '42501': 'refuses this user: permission denied',
  '53300': 'has no connection left',
  '57P01': 'is being shut down',
  '57P02': 'is being shut down',
  '57P03': 'is starting up or shutting down',
  '25006': 'is read-only: perhaps a standby',
  '53100': 'cannot be written: its disk is full',
};

/** Codes of OpenSSL and of Node's check of names. */
const CERTIFICATE = /CERT|ALTNAME|UNABLE_TO_VERIFY/;

/** Words of errors without a code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, 'does not answer'],
  [/connection terminated|not queryable|was closed/i, 'has closed the connection'],
];

export function postgresFault(url: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  const sentence =
    SENTENCES[String(code)] ??
    (code === undefined ? MESSAGES.find(([pattern]) => pattern.test(text))?.[1] : undefined);
  if (sentence !== undefined) return `the database of HEXCODES_STORE ${sentence}`;
  if (CERTIFICATE.test(String(code)))
    return `the certificate of the database of HEXCODES_STORE is not trusted (${text})`;
  return withoutSecrets(url, text);
}

/** The user's name is no secret; its password is. */
function withoutSecrets(url: string, text: string): string {
  const [, password] = /^[a-z]+:\/\/[^/@]*?:([^@]*)@/i.exec(url) ?? [];
  const secrets = [url, password, password === undefined ? undefined : decoded(password)];
  return secrets.reduce<string>((masked, secret) => (secret ? masked.replaceAll(secret, '…') : masked), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
