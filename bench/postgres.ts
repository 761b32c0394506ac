/** A PostgreSQL server of our own, started and stopped by the benchmark, and what is measured on it. */
import postgres from 'postgres';
import { createNodePlatform, openPostgresStore } from '../src/index.ts';
import { type Server, startServer } from '../test/postgres/server.ts';
import { type Opened, openOn } from './workspace.ts';

/** A server, and the clients that were opened on it. */
export class BenchServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #abandon: () => void;
  readonly #clients: postgres.Sql[] = [];
  #schemas = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.#abandon = () => server.abandon();
    // Nothing may stay behind when somebody loses patience.
    process.once('exit', this.#abandon);
  }

  static async start(): Promise<BenchServer> {
    return new BenchServer(await startServer({ settings }));
  }

  /** The URL of the database. */
  get url(): string {
    return this.#server.url();
  }

  /** The URL of a store that was not used before. */
  storeUrl(): string {
    return `${this.url}?schema=bench_${++this.#schemas}`;
  }

  /** Plain SQL on a separate connection. */
  sql(): postgres.Sql {
    const sql = postgres(this.url, { max: 1, onnotice: () => {} });
    this.#clients.push(sql);
    return sql;
  }

  /** Writes back what is changed in memory: the next one who writes would pay for it. */
  async settle(): Promise<void> {
    await this.sql().unsafe('CHECKPOINT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#abandon);
    await Promise.all(this.#clients.map((sql) => sql.end({ timeout: 5 })));
    await this.#server.stop();
  }
}

/** As a server is set up that has other things to do as well; durable, as it comes. */
const settings = ['shared_buffers=512MB', 'max_wal_size=4GB', 'checkpoint_timeout=30min', 'autovacuum_naptime=1min'];

/** Opens a store in PostgreSQL and its session, making both where they are missing. */
export async function openPostgres(url: string, durability: 'disk' | 'process' = 'disk'): Promise<Opened> {
  const platform = createNodePlatform();
  return await openOn(await openPostgresStore({ url, platform, durability }), platform, url);
}
