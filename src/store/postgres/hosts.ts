import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { type Host, nameOf, type Target } from './address.ts';
import type { Connection } from './connection.ts';
import { noHostCode } from './postgres-error.ts';

/** The servers of a store, and the wanted kind. */
export interface HostsOptions {
  readonly hosts: readonly Host[];
  readonly target: Target;
  /** Whether our own sessions only read: then their setting says nothing about the server. */
  readonly isReadOnly: boolean;
}

/** Finds the wanted server among several; tries the last right one first. */
export class Hosts {
  readonly #options: HostsOptions;
  #last = 0;

  constructor(options: HostsOptions) {
    this.#options = options;
  }

  /** Connects to the first host that answers and is of the wanted kind. Does not ask a single host of any kind. */
  async connect(make: (host: Host) => Connection): Promise<Connection> {
    const { hosts, target } = this.#options;
    const [only] = hosts;
    if (only !== undefined && hosts.length === 1 && target === 'any') return make(only);
    const wrong = new Map<number, unknown>();
    for (const wanted of target === 'prefer-standby' ? (['standby', 'any'] as const) : [target]) {
      for (const [index, host] of this.#lastFirst()) {
        const found = await this.#try(make(host), wanted);
        if ('connection' in found) {
          this.#last = index;
          return found.connection;
        }
        wrong.set(index, found.why);
      }
    }
    throw noneOf(hosts, target, wrong);
  }

  /** Returns the hosts with their numbers, from the last right one on. */
  #lastFirst(): [number, Host][] {
    const numbered = [...this.#options.hosts.entries()];
    return [...numbered.slice(this.#last), ...numbered.slice(0, this.#last)];
  }

  async #try(
    connection: Connection,
    wanted: Target,
  ): Promise<{ readonly connection: Connection } | { readonly why: unknown }> {
    try {
      const [isStandby, readOnly] = await connection.one<[boolean, string]>(
        `SELECT pg_is_in_recovery(), current_setting('transaction_read_only')`,
      );
      const isReading = this.#options.isReadOnly ? isStandby : readOnly === 'on';
      if (isRight(wanted, isStandby, isReading)) return { connection };
      await connection.close();
      return { why: isStandby ? 'is a standby' : isReading ? 'only reads' : 'is the primary' };
    } catch (error) {
      connection.destroy();
      return { why: error };
    }
  }
}

function isRight(wanted: Target, isStandby: boolean, isReading: boolean): boolean {
  if (wanted === 'read-write') return !isReading;
  if (wanted === 'read-only') return isReading;
  if (wanted === 'primary') return !isStandby;
  return wanted !== 'standby' || isStandby;
}

function noneOf(hosts: readonly Host[], target: Target, wrong: ReadonlyMap<number, unknown>): unknown {
  const errors = [...wrong.values()].filter((why) => why instanceof RepriseError);
  // Hosts that refuse the user, or lack the database, will not be right later either.
  const telling = errors.find(({ code }) => code !== 'store.unreachable');
  if (wrong.size === errors.length && (hosts.length === 1 || telling !== undefined)) return telling ?? errors[0];
  const list = hosts.map((host, index) => {
    const why = wrong.get(index);
    return `"${nameOf(host)}" ${why instanceof Error ? `says "${causeOf(why)}"` : String(why)}`;
  });
  const isAnswered = wrong.size !== errors.length;
  return new RepriseError(
    'store.unreachable',
    `Cannot use the store: no host is ${meant[target]} (${list.join(', ')})`,
    {
      hint: isAnswered
        ? 'Promote a standby, or start the server that is missing; what was acknowledged is stored.'
        : 'Check that PostgreSQL runs, and the hosts and ports of the URL.',
      details: { postgres: isAnswered ? noHostCode : 'ECONNREFUSED', target, hosts: hosts.map(nameOf) },
      ...given({ cause: errors[0] }),
    },
  );
}

const meant: Readonly<Record<Target, string>> = {
  any: 'there',
  'read-write': 'there that takes writes',
  'read-only': 'there that only reads',
  primary: 'there that is the primary',
  standby: 'there that is a standby',
  'prefer-standby': 'there',
};

function causeOf(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
