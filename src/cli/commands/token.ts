import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { EventStore } from '../../core/store/event-store.ts';
import type { TokenKeeper, TokenRecord } from '../../core/store/token-store.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { openOwnStore } from '../../open-own-store.ts';
import { makeToken, type Right } from '../../server.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { flagOption, type OptionValues, textOption } from '../option-values.ts';

/** `reprise token`. */
export const token: CommandSpec = {
  arguments: [
    { name: '<action>', about: 'what to do', choices: ['create', 'list', 'revoke'] },
    { name: '[id]', about: 'the token to revoke, by its id' },
  ],
  options: [
    new Option(
      '--can <rights>',
      'rights of a new token: read, append, run, admin; most writing takes read,append (default: read)',
    ),
    new Option('--all-namespaces', 'open every namespace, not only the one in use'),
    new Option('--agent <id>', 'agent that it is bound to'),
    new Option('--ttl <duration>', 'how long it lives: 30m, 12h, 90d (default: until it is revoked)'),
  ],
  examples: [
    'reprise token create --can read,append',
    'reprise token create --can read --ttl 30d --json',
    'reprise token list',
  ],
  run: async (context, [action, id], options) => {
    const store = await openKeeper(context);
    try {
      if (action === 'create') return await create(context, store, options);
      return action === 'list' ? await list(context, store) : await revoke(context, store, id);
    } finally {
      await store.close();
    }
  },
};

/** A token without its hash, as `reprise token list --json` prints it. */
export type TokenRow = Omit<TokenRecord, 'hash'>;

/** A new token, as `reprise token create --json` prints it: the only time that it is shown. */
export interface TokenMade extends TokenRow {
  readonly token: string;
}

/** Opens the store itself: a token is made in the store itself, never through a server. */
async function openKeeper(context: Context): Promise<EventStore & TokenKeeper> {
  const { location } = context.chosenStore();
  if (location.kind === 'server' || location.kind === 'bundle')
    throw new RepriseError('option.invalid', `Cannot manage the tokens of a ${location.kind}`, {
      hint: 'Name the store that the server serves: --store sqlite:PATH or postgres://….',
    });
  return await openOwnStore(location, createNodePlatform(), {});
}

async function create(context: Context, { tokens }: TokenKeeper, options: OptionValues): Promise<number> {
  const { out } = context;
  const namespace = context.chosenNamespace();
  const made = makeToken(
    {
      rights: rightsIn(textOption(options, 'can') ?? 'read'),
      ...given({
        namespaces: flagOption(options, 'allNamespaces') ? undefined : [namespace],
        agent: textOption(options, 'agent'),
        ttlMs: durationOf(textOption(options, 'ttl')),
      }),
    },
    createNodePlatform(),
  );
  await tokens.add(made.record);
  const answer: TokenMade = { token: made.token, ...rowOf(made.record) };
  if (out.json !== undefined) await out.value(answer);
  else {
    await out.lines([made.token]);
    out.say('Keep it now: it is not shown again. Set it as REPRISE_TOKEN where it is used.');
  }
  return done;
}

async function list({ out }: Context, { tokens }: TokenKeeper): Promise<number> {
  const rows: readonly TokenRow[] = (await tokens.list()).map(rowOf);
  if (out.json !== undefined) for (const row of rows) await out.value(row);
  else if (rows.length === 0) out.say('There are no tokens. To make one: reprise token create --can read');
  else await out.lines(rows.map(lineOf));
  return done;
}

async function revoke({ out }: Context, { tokens }: TokenKeeper, id: string | undefined): Promise<number> {
  if (id === undefined)
    throw new RepriseError('option.invalid', 'Cannot revoke a token: its id is missing', {
      hint: 'Find the id with "reprise token list".',
    });
  const isRevoked = await tokens.revoke(id, createNodePlatform().now());
  if (out.json !== undefined) await out.value({ id, revoked: isRevoked });
  else out.say(isRevoked ? `Revoked ${plain(id)}. Servers refuse it within 5 s.` : `There is no token ${plain(id)}.`);
  return isRevoked ? done : no;
}

function rowOf({ id, rights, namespaces, agent, createdAt, expiresAt, revokedAt }: TokenRecord): TokenRow {
  return { id, rights, namespaces, agent, createdAt, expiresAt, revokedAt };
}

function lineOf({ id, rights, namespaces, agent, expiresAt, revokedAt }: TokenRow): string {
  const spaces = namespaces === null ? 'all namespaces' : namespaces.map(plain).join(', ');
  const end = revokedAt !== null ? 'revoked' : expiresAt !== null ? `until ${expiresAt}` : '';
  const bound = agent === null ? '' : `as ${plain(agent)}`;
  return [id, rights.join(','), spaces, bound, end].filter((text) => text !== '').join('  ');
}

const knownRights: ReadonlySet<string> = new Set<Right>(['read', 'append', 'run', 'admin']);

function rightsIn(text: string): readonly Right[] {
  const rights = text.split(',').map((right) => right.trim());
  const unknown = rights.find((right) => !knownRights.has(right));
  if (unknown === undefined) return rights as readonly Right[];
  throw new RepriseError('option.invalid', `Cannot make a token: there is no right ${JSON.stringify(unknown)}`, {
    hint: 'The rights are read, append, run and admin; separate them by commas.',
  });
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const unitMs = units[unit];
  if (unitMs !== undefined) return Number(count) * unitMs;
  throw new RepriseError('option.invalid', `Cannot use ${JSON.stringify(text)} as a life of a token`, {
    hint: 'Write a whole number and a unit: 30m, 12h, 90d.',
  });
}
