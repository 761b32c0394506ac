import type { StoreAdvice, StoreFact } from '../../../core/store/store-health.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import { type Ability, grantsOf, type Right, rights } from '../rights.ts';

/** The abilities of the user, and the grants for the others. */
export interface RightsReport {
  readonly fact: StoreFact;
  readonly advice: readonly StoreAdvice[];
  readonly problems: readonly StoreAdvice[];
}

const missingSql = `
SELECT r.number FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY r (relation, privilege, field, number)
WHERE NOT CASE WHEN r.field = '' THEN has_table_privilege(to_regclass(r.relation), r.privilege)
  ELSE has_column_privilege(to_regclass(r.relation), r.field, r.privilege) END
ORDER BY r.number`;

const userSql = `
SELECT quote_ident(current_user), has_sequence_privilege('touches', 'USAGE'),
  pg_has_role((SELECT relowner FROM pg_class WHERE oid = to_regclass('schema_versions')), 'USAGE')`;

const words: Readonly<Record<Ability, string>> = { read: 'read', append: 'append', erase: 'erase and delete' };

/** A user, and the rights that the user lacks. */
interface Lack {
  readonly schema: string;
  readonly user: string;
  readonly missing: readonly Right[];
  /** Whether the user may use the sequence that puts appends in order. */
  readonly mayCount: boolean;
  readonly isOwner: boolean;
}

/** Reports the rights of the user. Missing ones are only advice, since a restricted user is often intended. */
export async function rightsReport(queries: Queries, schema: string): Promise<RightsReport> {
  const lack = await lackOf(queries, schema);
  const [may, mayNot]: [string[], string[]] = [[], []];
  const advice: StoreAdvice[] = [];
  const problems: StoreAdvice[] = [];
  for (const ability of ['read', 'append', 'erase'] as const) {
    const advised = adviceOf(lack, ability);
    (advised === undefined ? may : mayNot).push(words[ability]);
    if (advised !== undefined) (ability === 'read' ? problems : advice).push(advised);
  }
  (lack.isOwner ? may : mayNot).push('migrate');
  const refused = mayNot.length === 0 ? '' : `; it may not ${mayNot.join(', ')}`;
  return { fact: { name: 'rights', text: `${lack.user} may ${may.join(', ')}${refused}` }, advice, problems };
}

async function lackOf(queries: Queries, schema: string): Promise<Lack> {
  const [user, mayCount, isOwner] = await queries.one<[string, boolean, boolean]>(userSql);
  const rows = await queries.all<[number]>(
    missingSql,
    arrayLiteral(rights.map(({ table }) => table)),
    arrayLiteral(rights.map(({ privilege }) => privilege)),
    arrayLiteral(rights.map(({ column }) => column ?? '')),
  );
  return { schema, user, missing: rows.flatMap(([number]) => rights[number - 1] ?? []), mayCount, isOwner };
}

/** Returns the missing rights of an ability and the statements that grant them; undefined if none is missing. */
function adviceOf({ schema, user, missing, mayCount }: Lack, ability: Ability): StoreAdvice | undefined {
  const lacking = missing.filter((right) => right.ability === ability);
  const grants = grantsOf(lacking, schema, user);
  const places = new Map<string, Set<string>>();
  for (const { privilege, table } of lacking)
    places.set(privilege, (places.get(privilege) ?? new Set<string>()).add(table));
  const texts = [...places].map(([privilege, names]) => `${privilege} on ${[...names].join(', ')}`);
  if (ability === 'append' && !mayCount) {
    grants.push(`GRANT USAGE ON SEQUENCE ${schema}.touches TO ${user};`);
    texts.push('USAGE on the sequence touches');
  }
  if (grants.length === 0) return undefined;
  return {
    message: `The user ${user} may not ${words[ability]}: it lacks ${texts.join('; ')}`,
    todo: ['If it should, let the owner type:', ...grants].join('\n'),
  };
}
