// Opens the connection to the NATS servers. Programs that run for long wait for servers that are away; whatever cannot
// get better by waiting ends in one sentence.
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type ServerInfo,
} from '@nats-io/transport-node';
import type { BusSettings, Waiting } from '../bus.js';
import { EngineFault } from '../engine.js';

const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_WAIT_MS = 500;
/** A peer that answers no ping for two of these is given up: a cut network shows no other sign. */
const PING_INTERVAL_MS = 4000;
const RETRY_MS = 1000;
/** Longest time that JetStream may take to start, on a server that has it. */
const JETSTREAM_START_MS = 15_000;

/**
 * A connection alone, without JetStream.
 * @throws EngineFault
 */
export async function connection(settings: BusSettings, waiting: Waiting): Promise<NatsConnection> {
  const options = optionsOf(settings);
  for (let tried = 1; ; tried++) {
    try {
      const nc = await connect(options);
      const warning = openWarning(nc.info, nc.getServer());
      if (warning !== undefined) waiting.say(warning);
      return nc;
    } catch (error) {
      const fault = lastingFault(error as Error, settings);
      if (fault !== undefined) throw fault;
      const words = `${addressesOf(settings)} cannot be reached: ${causeOf(error as Error)}`;
      if (!waiting.isPatient) throw new EngineFault(words, undefined, { cause: error });
      if (tried === 1) waiting.say(`${words}; waiting`);
    }
    await sleep(RETRY_MS, undefined, { signal: waiting.signal }).catch(() => {
      throw new EngineFault('stopped before there was a connection');
    });
  }
}

/**
 * Where anybody on the network may do anything: a server that can be reached from other machines and asks for nothing.
 * @param address of the server, with its port
 */
export function openWarning(info: ServerInfo | undefined, address: string): string | undefined {
  const asks = info?.auth_required === true || info?.tls_verify === true;
  const isNear = isLoopback(info?.host ?? '') && isLoopback(address.replace(/:\d+$/, ''));
  if (info === undefined || asks || isNear) return undefined;
  return `warning: ${address} listens beyond this machine and asks for no credentials: whoever reaches it may read, forge and remove all messages; deploy/nats/hexcodes.conf has users with permissions`;
}

const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?(?:::1|(?:0+:){7}0*1|::ffff:127(?:\.\d{1,3}){3})\]?)$/i.test(host);

function optionsOf(settings: BusSettings): NodeConnectionOptions {
  const { natsUser, natsPassword, natsToken, natsNkey, natsCreds } = settings;
  const { natsTlsCa, natsTlsCert, natsTlsKey } = settings;
  const isTls = natsTlsCa !== undefined || natsTlsCert !== undefined;
  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text.trim());
  const authenticators = [
    ...(natsNkey === undefined ? [] : [nkeyAuthenticator(bytesOf(natsNkey))]),
    ...(natsCreds === undefined ? [] : [credsAuthenticator(bytesOf(natsCreds))]),
  ];
  return {
    servers: [...settings.natsUrl],
    name: 'hexcodes',
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    // Else each request makes the stack traces of two errors, in case it fails.
    noAsyncTraces: true,
    ...(natsUser === undefined ? {} : { user: natsUser }),
    ...(natsPassword === undefined ? {} : { pass: natsPassword }),
    ...(natsToken === undefined ? {} : { token: natsToken }),
    ...(authenticators.length === 0 ? {} : { authenticator: authenticators }),
    ...(isTls
      ? {
          tls: {
            ...(natsTlsCa === undefined ? {} : { ca: natsTlsCa }),
            ...(natsTlsCert === undefined ? {} : { cert: natsTlsCert }),
            ...(natsTlsKey === undefined ? {} : { key: natsTlsKey }),
          },
        }
      : {}),
  };
}

export const addressesOf = ({ natsUrl }: Pick<BusSettings, 'natsUrl'>): string => natsUrl.join(', ');

/** A fault that waiting does not mend; undefined for all others. */
function lastingFault(error: Error, settings: BusSettings): EngineFault | undefined {
  const text = causeOf(error);
  const where = addressesOf(settings);
  if (error instanceof AuthorizationError || /authorization violation|authentication/i.test(text))
    return new EngineFault(
      `${where} refuses these credentials`,
      'Give --creds, --nkey, or --user with HEXCODES_NATS_PASSWORD, or HEXCODES_NATS_TOKEN',
      { cause: error },
    );
  if (/certificate|self.signed|tls|ssl/i.test(text))
    return new EngineFault(
      `${where}: no TLS connection: ${text}`,
      'Give the signers of its certificate with --tls-ca',
      { cause: error },
    );
  if (/nkey|seed|creds|checksum/i.test(text))
    return new EngineFault(`the credentials cannot be used: ${text}`, undefined, { cause: error });
  return undefined;
}

/** The innermost message. */
function causeOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? causeOf(cause) : error.message;
}

/** JetStream of a connection, once its server has started it. @throws EngineFault */
export async function managerOf(nc: NatsConnection, settings: BusSettings): Promise<JetStreamManager> {
  const deadlineMs = performance.now() + (nc.info?.jetstream === true ? JETSTREAM_START_MS : 0);
  for (;;) {
    try {
      return await jetstreamManager(nc);
    } catch (error) {
      if (performance.now() > deadlineMs) {
        const hint = 'Start nats-server with --jetstream, and let the account use it';
        throw new EngineFault(`${addressesOf(settings)} has no JetStream`, hint, { cause: error });
      }
    }
    await sleep(RETRY_MS);
  }
}
