// One connection to the shared store, with its tables up to date. A database that does not answer in time counts as one
// that is away: the query fails, and whoever holds the connection lets go of it and opens another.
import { Socket } from 'node:net';
import pg from 'pg';
import { migrate } from './postgres-schema.js';

/** A database that does not answer is one that is away. */
const ANSWER_TIMEOUT_MS = 4000;
/** Time to say goodbye to a database that may be away. */
const CLOSE_TIMEOUT_MS = 500;

export class PostgresConnection {
  #isGone = false;

  private constructor(
    /** Where the database is, for people; without credentials. */
    readonly address: string,
    private readonly client: pg.Client,
    private readonly socket: Socket,
  ) {
    const gone = (): void => {
      this.#isGone = true;
    };
    // Without a listener an error of an idle connection would end the process.
    client.on('error', gone);
    client.on('end', gone);
  }

  /**
   * @param url as libpq has them, with TLS and credentials:
   *   `postgres://user:password@host/database?sslmode=verify-full`
   * @param name as the database's administrator sees the connection
   * @param mayMake make the tables if they are not there
   */
  static async open(url: string, name: string, mayMake: boolean): Promise<PostgresConnection> {
    // Our own, to be able to let go of a connection that is stuck.
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const address = `postgres://${client.host}:${client.port}/${client.database ?? ''}`;
    const connection = new PostgresConnection(address, client, socket);
    try {
      await client.connect();
      await migrate(client, address, mayMake);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** The connection has ended: another has to be opened. */
  get isGone(): boolean {
    return this.#isGone;
  }

  async query<R>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.client.query(text, [...values])).rows as R[];
  }

  async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query('BEGIN');
    try {
      const result = await work();
      await this.client.query('COMMIT');
      return result;
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** Calls `notified` whenever somebody notifies the channel. */
  async listen(channel: string, notified: () => void): Promise<void> {
    this.client.on('notification', notified);
    await this.client.query(`LISTEN ${channel}`);
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    await this.client.end().catch(() => {});
    clearTimeout(timer);
    this.socket.destroy();
  }
}
