import type { StoreAdvice, StoreFact } from '../../../core/ports.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import { type Ability, grantsOf, type Right, rights } from '../rights.ts';

/** What the user may do, and what to grant for the rest. */
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
  pg_has_role((SELECT relowner FROM pg_class WHERE oid = to_regclass('schema_changes')), 'USAGE')`;

const words: Readonly<Record<Ability, string>> = { read: 'read', append: 'append', erase: 'erase and delete' };

/** Which rights the user has: a user who may do less than everything is often meant to. */
export async function rightsReport(queries: Queries, schema: string): Promise<RightsReport> {
  const [user, mayCount, isOwner] = (await queries.get<[string, boolean, boolean]>(userSql)) as [
    string,
    boolean,
    boolean,
  ];
  const rows = await queries.all<[number]>(
    missingSql,
    arrayLiteral(rights.map(({ table }) => table)),
    arrayLiteral(rights.map(({ privilege }) => privilege)),
    arrayLiteral(rights.map(({ column }) => column ?? '')),
  );
  const missing = rows.map(([number]) => rights[number - 1] as Right);
  const lacks = (ability: Ability): boolean =>
    missing.some((right) => right.ability === ability) || (ability === 'append' && !mayCount);
  const abilities = (['read', 'append', 'erase'] as const).map((ability) => ({ ability, isMissing: lacks(ability) }));
  const may = [...abilities.filter(({ isMissing }) => !isMissing).map(({ ability }) => words[ability])];
  const mayNot = [...abilities.filter(({ isMissing }) => isMissing).map(({ ability }) => words[ability])];
  (isOwner ? may : mayNot).push('migrate');
  const advised = (ability: Ability): StoreAdvice => {
    const lacking = missing.filter((right) => right.ability === ability);
    const grants = grantsOf(lacking, schema, user);
    if (ability === 'append' && !mayCount) grants.push(`GRANT USAGE ON SEQUENCE ${schema}.touches TO ${user};`);
    const message = `The user ${user} may not ${words[ability]}: it lacks ${lackingText(lacking, !mayCount)}`;
    return { message, todo: `If it should, let the owner type: ${grants.join(' ')}` };
  };
  const list = abilities.filter(({ isMissing }) => isMissing).map(({ ability }) => ability);
  const text = `${user} may ${may.join(', ')}${mayNot.length === 0 ? '' : `; it may not ${mayNot.join(', ')}`}`;
  return {
    fact: { name: 'rights', text },
    problems: list.filter((ability) => ability === 'read').map(advised),
    advice: list.filter((ability) => ability !== 'read').map(advised),
  };
}

function lackingText(missing: readonly Right[], isCounting: boolean): string {
  const places = new Map<string, Set<string>>();
  for (const { privilege, table } of missing)
    places.set(privilege, (places.get(privilege) ?? new Set<string>()).add(table));
  const texts = [...places].map(([privilege, names]) => `${privilege} on ${[...names].join(', ')}`);
  if (texts.length === 0 && isCounting) texts.push('USAGE on the sequence touches');
  return texts.join('; ');
}
