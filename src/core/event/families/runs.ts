import { isObject, type JsonValue } from '../../json.ts';
import { type EventSpec, eventType, field } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { error, noise, outcome } from './shared-fields.ts';

/** Executions of agent code, and the turns of their story. */
export const runTypes: Readonly<Record<string, EventSpec>> = {
  'run.started': eventType('An execution of agent code began.', {
    fields: {
      title: field('string', 'A title for people.', noise),
      program: field('object', 'The program: `{ command, arguments, cwd? }`.', noise),
      versions: field('object', 'Versions of Node, Reprise and the framework.', noise),
      git: field('object', '`{ branch, sha, dirty }` of the working tree.', noise),
      configDigest: field('string', 'A digest of the configuration.', noise),
      resumed: field('object', 'Set when a branch was resumed: who resumed it and how.', noise),
      messages: field('array', 'The messages the run began with; a run without them is separate.', {
        ...noise,
        storage: 'list',
      }),
    },
    gist: ({ title, git, resumed }, write) => [write.text(title), write.git(git), resumedText(resumed, write)],
    example: { title: 'Refund of order 7', git: { branch: 'main', sha: '1a2b3c', dirty: false } },
  }),
  'run.ended': eventType('An execution of agent code ended.', {
    fields: {
      outcome,
      result: field('any', 'The result of the run.'),
      error,
      fingerprint: field('string', 'The fingerprint of the history before this event.', noise),
    },
    gist: (data, write) => [write.outcome(data), write.value(data['result']), ...write.spending(data)],
    example: { outcome: 'ok', result: 'Refunded.' },
  }),
  'turn.started': eventType('A turn of the story began.', {
    fields: {
      title: field('string', 'The subject of the turn.', noise),
      because: field('array', 'The ids of the events that made it run again instead of being repeated.', {
        ...noise,
      }),
      reused: field('string', 'The id of the recorded turn that it repeats.', noise),
    },
    gist: ({ title, reused }, write) => [write.text(title), reused === undefined ? '' : 'repeated'],
    example: {},
  }),
  'turn.ended': eventType('A turn of the story ended.', {
    fields: {
      outcome: field('string', 'How it ended.'),
      error,
      whole: field('boolean', 'Whether the whole fleet ended the turn: a run forward continues after it.', {
        ...noise,
      }),
    },
    gist: (data, write) => [write.outcome(data)],
    example: { outcome: 'ok' },
  }),
};

function resumedText(resumed: JsonValue | undefined, write: GistWriter): string {
  if (!isObject(resumed)) return '';
  const { with: name, framework, options } = resumed;
  const on = write.text(name) || (framework === 'function' ? '' : write.text(framework));
  return ['resumed', on === '' ? '' : `on ${on}`, write.value(options)].filter((part) => part !== '').join(' ');
}
