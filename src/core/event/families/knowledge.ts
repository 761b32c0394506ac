import { arrayAt, isObject, type JsonObject, type JsonValue, stringAt } from '../../json.ts';
import { type EventSpec, eventType, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { ownedKey, plainKey } from '../keys.ts';
import { isOperation, operationsFault } from '../state-operation.ts';
import { id, noise, reason } from './shared-fields.ts';

/** The index key of the rule that settles contradictions. */
export const strategyKey: string = plainKey('strategy', '');

const topicKeys = (data: JsonObject): readonly string[] => [plainKey('topic', stringAt(data, 'topic') ?? '')];
const topicSlot = ({ topic }: JsonObject): readonly (JsonValue | undefined)[] => [topic];
const topicText = ({ topic }: JsonObject, write: GistWriter): string => write.text(topic, (text) => `[${text}]`);

/** The knowledge of agents: keyed state, beliefs, decisions, goals and constraints. */
export const knowledgeTypes: Readonly<Record<string, EventSpec>> = {
  'state.committed': eventType('An atomic transaction wrote state.', {
    fields: { operations: need('array', '`{ agent, key, op: "write" | "delete", value?, version }`, in order.') },
    check: operationsFault,
    keys: stateKeys,
    gist: (data, write) => [operationsText(data, write)],
    example: { operations: [{ agent: 'default', key: 'plan', op: 'write', value: { next: 'ask' }, version: 1 }] },
  }),
  'belief.committed': eventType('An agent committed to a claim.', {
    fields: {
      claim: need('string', 'The claim.'),
      topic: field('string', 'The subject of the claim.'),
      kind: field('string', 'fact, decision, calculation or constraint.'),
      value: field('any', 'The claim as a value.'),
      trust: field('number', 'How far it is trusted, 0 to 1.'),
      settled: field(
        'boolean',
        'Whether it was committed: it was compared with the other claims on its topic, or put next to them.',
        {
          ...noise,
        },
      ),
      mutates: field('boolean', 'Whether it is a what-if: it took the place of what stood on its topic.', {
        ...noise,
      }),
      beside: field('boolean', 'Whether it was put next to the other claims on its topic, and compared with none.', {
        ...noise,
      }),
    },
    keys: topicKeys,
    slot: topicSlot,
    gist: (data, write) => [topicText(data, write), write.text(data['claim']), write.number('trust', data['trust'])],
    group: 'beliefs',
    audited: true,
    example: { claim: 'The pool is exhausted', topic: 'database', kind: 'fact', trust: 0.8 },
  }),
  'belief.superseded': eventType('A newer claim replaced an older one.', {
    fields: {
      belief: need('string', 'The event id of the older claim.', id),
      by: field('string', 'The event id of the newer one.', id),
      topic: field('string', 'The subject of the older claim.'),
      reason,
    },
    keys: topicKeys,
    slot: topicSlot,
    gist: (data, write) => [topicText(data, write), write.quote(data['reason'])],
    goesWith: ['belief.committed'],
    group: 'beliefs',
    audited: true,
    example: { belief: '0199…', by: '0199…', topic: 'database' },
  }),
  'contradiction.detected': eventType('Two claims were found to contradict each other.', {
    fields: {
      beliefs: need('array', 'The event ids of the claims.', id),
      topic: field('string', 'The subject of the claims.'),
      score: field('number', 'How sure the check is.', noise),
    },
    keys: topicKeys,
    slot: topicSlot,
    gist: (data, write) => [topicText(data, write), write.list(data['beliefs'])],
    goesWith: ['belief.committed'],
    group: 'beliefs',
    audited: true,
    example: { beliefs: ['0199…', '019a…'], topic: 'database' },
  }),
  'contradiction.settled': eventType('A contradiction was settled.', {
    fields: {
      winner: field('string', 'The event id of the claim that stands.', id),
      strategy: need('string', 'How it was decided.'),
      topic: field('string', 'The subject of the claims.'),
      fallback: field(
        'string',
        'Why it was decided by `last-write-wins` instead: the fault of the check or the strategy.',
      ),
      reason,
    },
    keys: topicKeys,
    slot: topicSlot,
    gist: (data, write) => [topicText(data, write), write.text(data['strategy']), write.quote(data['reason'])],
    goesWith: ['belief.committed'],
    group: 'beliefs',
    audited: true,
    example: { winner: '019a…', strategy: 'highest-trust', topic: 'database' },
  }),
  'strategy.changed': eventType('The rule that settles contradictions was changed.', {
    fields: {
      strategy: need('string', '`last-write-wins`, `highest-trust`, or the name of a rule of the caller.'),
      reason,
    },
    keys: () => [strategyKey],
    gist: ({ strategy, reason: why }, write) => [write.text(strategy), write.quote(why)],
    audited: true,
    example: { strategy: 'highest-trust' },
  }),
  'decision.made': eventType('A decision was made.', {
    fields: { decision: need('string', 'The decision.'), reason },
    gist: (data, write) => [write.text(data['decision']), write.quote(data['reason'])],
    example: { decision: 'Retry with a larger pool' },
  }),
  'evidence.added': eventType('Something was found that a claim can rest on.', {
    fields: {
      title: field('string', 'The name of the evidence.'),
      content: field('any', 'The evidence itself.'),
      source: field('string', 'The origin of the evidence.'),
    },
    slot: ({ title }) => [title],
    example: { title: 'Pool metrics', source: 'grafana' },
  }),
  'goal.set': eventType('The goal of the work was set.', {
    fields: { goal: need('string', 'The goal.'), details: field('string', 'More about it.') },
    gist: ({ goal, details }, write) => [write.text(goal), write.text(details)],
    example: { goal: 'Make the parser tests pass' },
  }),
  'constraint.set': eventType('A constraint on the work was set.', {
    fields: {
      key: need('string', 'Its name.'),
      value: field('any', 'Its value.'),
      text: field('string', 'In words.'),
      strength: field('string', 'hard or soft.'),
    },
    slot: ({ key }) => [key],
    example: { key: 'no-network', text: 'Do not call the network', strength: 'hard' },
  }),
  'risk.quarantined': eventType('Something unsafe was set aside.', {
    fields: {
      title: need('string', 'The name of the risk.'),
      content: field('any', 'The unsafe content.'),
      source: field('string', 'The origin of the content.'),
      reason,
      event: field('string', 'The id of the event that it sets aside.', id),
    },
    example: { title: 'Instructions in tool output', source: 'web' },
  }),
};

/** Appends do not check data of a different version, so an operation in an unknown form has no key. */
function stateKeys(data: JsonObject): readonly string[] {
  return (arrayAt(data, 'operations') ?? [])
    .filter(isOperation)
    .map(({ agent, key }) => ownedKey('state', String(agent), String(key)));
}

function operationsText(data: JsonObject, write: GistWriter): string {
  const operations = arrayAt(data, 'operations') ?? [];
  const shown = operations
    .filter(isObject)
    .slice(0, 3)
    .map(({ op, key, value }) =>
      op === 'delete' ? `delete ${String(key)}` : `${String(key)} = ${write.value(value)}`,
    );
  return shown.join('; ') + (operations.length > shown.length ? `; … (${operations.length})` : '');
}
