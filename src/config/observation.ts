// Settings: what the service says of its requests, in logs and traces, and whom it believes about their clients.
import { isNetwork } from './networks.js';
import { Fault, integerOr, oneOf, yesOrNo } from './setting.js';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOGGING = {
  logLevel: {
    variable: 'HEXCODES_LOG_LEVEL',
    flag: '--log-level',
    argument: '<level>',
    help: `${LOG_LEVELS.join(', ')} (info); at debug every request has a line`,
    read: oneOf(LOG_LEVELS, 'info'),
  },
};

const MAX_LINES = 1_000_000;

export const OBSERVATION = {
  /** Addresses of proxies, and networks of them, whose X-Forwarded-For is believed. */
  trustedProxies: {
    variable: 'HEXCODES_TRUSTED_PROXIES',
    flag: '--trusted-proxies',
    argument: '<networks>',
    help: 'proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,192.0.2.7 (none)',
    read: readNetworks,
  },
  logRequestsPerSecond: {
    variable: 'HEXCODES_LOG_REQUESTS_PER_SECOND',
    flag: '--log-requests-per-second',
    argument: '<number>',
    help: 'requests that have a log line of their own in a second, below debug level (100)',
    read: integerOr(100, 0, MAX_LINES),
  },
  /** Whether log lines of single calls have their position or code. */
  logPositions: {
    variable: 'HEXCODES_LOG_POSITIONS',
    flag: '--log-positions',
    help: 'log the position or code of single calls (false)',
    read: yesOrNo,
  },
  /** Base address of a collector of OpenTelemetry traces; undefined: none are made. */
  otlpEndpoint: {
    variable: 'HEXCODES_OTLP_ENDPOINT',
    standardVariable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    flag: '--otlp-endpoint',
    argument: '<url>',
    help: 'collector of OpenTelemetry traces, as http://127.0.0.1:4318 (none)',
    read: readEndpoint,
  },
  /** Share of requests that are traced where the caller does not say whether it records a trace. */
  traceRatio: {
    variable: 'HEXCODES_TRACE_RATIO',
    flag: '--trace-ratio',
    argument: '<0..1>',
    help: 'share of requests with a trace of their own (0.01)',
    read: readRatio,
  },
};

function readNetworks(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const networks = text.split(',').map((network) => network.trim());
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong !== undefined)
    throw new Fault(`names ${JSON.stringify(wrong)}, which is not an address or network`);
  return networks;
}

function readEndpoint(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable || url.username !== '' || url.password !== '') {
    throw new Fault('must be an address of http or https without user, query and fragment');
  }
  return text.replace(/\/+$/, '');
}

function readRatio(text: string | undefined): number {
  if (text === undefined) return 0.01;
  const ratio = /^(?:[01]|0?\.\d+|[01]\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new Fault('must be a number from 0 to 1');
  return ratio;
}
