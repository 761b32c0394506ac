/** The histories that the pictures of the studio show: the story of the demo, a long day, a release, and sessions that failed, wait or run. */
import type { JsonObject } from '../src/core/json.ts';
import { type EventDraft, openReprise, type Reprise, type Session } from '../src/index.ts';
import { busyStory } from '../test/studio/busy-story.ts';
import type { Folder } from '../test/studio/studio-process.ts';

const minuteMs = 60_000;

/** Returns the time that was some milliseconds ago. */
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** Records every session that is shown. */
export async function recordHistories(folder: Folder): Promise<void> {
  folder.run('demo', '--store', folder.store);
  folder.run(
    'set',
    'hostile',
    'content',
    JSON.stringify({
      script: '<script>alert(1)</script>',
      end: '</script>',
      bidi: 'safe \u202egnp.exe',
      escape: '\u001b[31mred',
      long: 'x'.repeat(3_000),
    }),
  );
  folder.run('set', 'erased', 'address', '"7 Mill Lane"');
  folder.run('erase', 'erased@1', '--reason', 'personal data', '--yes');
  await using reprise = await openReprise({ store: folder.store, config: false });
  await recordRelease(await reprise.session('release', { create: true }));
  await recordLongDay(await reprise.session('long-day', { create: true }));
  await recordOthers(reprise);
}

/** Records a day of several agents that ended two hours ago. */
async function recordLongDay(session: Session): Promise<void> {
  const events = [...busyStory(2_000)];
  const late = Date.now() - 120 * minuteMs - Date.parse(events.at(-1)?.time ?? '');
  for (let from = 0; from < events.length; from += 500)
    await session.append(
      events.slice(from, from + 500).map((event) => ({
        ...event,
        time: new Date(Date.parse(event.time ?? '') + late).toISOString(),
      })),
    );
}

/** Records a run that failed, one that waits for a person, and one that is silent for some minutes. */
async function recordOthers(reprise: Reprise): Promise<void> {
  const failed = await reprise.session('manual', { create: true });
  await failed.append(
    runOf({ agent: 'translator', title: 'Translate the manual', began: 34 * minuteMs }, [
      toolCall('fetch_page', { page: 12 }, { error: { name: 'Timeout', message: 'fetch_page did not answer' } }),
      {
        type: 'run.ended',
        data: { outcome: 'error', error: { name: 'Timeout', message: 'fetch_page did not answer' } },
      },
    ]),
  );
  const waiting = await reprise.session('approval', { create: true });
  const input = { tool: 'refund', amount: 500 };
  await waiting.append(
    runOf({ agent: 'support', title: 'Refund that needs a person', began: 11 * minuteMs }, [
      [{ type: 'message.added', data: { message: { role: 'user', content: 'Refund order 7.' } } }],
      [
        {
          type: 'call.started',
          data: { call: 'approval:c1', kind: 'person', name: 'approval', about: 'c1', input },
        },
      ],
      { type: 'run.ended', data: { outcome: 'waiting' } },
    ]),
  );
  const silent = await reprise.session('nightly', { create: true });
  await silent.append(
    runOf({ agent: 'reporter', title: 'Write the nightly report', began: 4 * minuteMs }, [
      toolCall('read_file', { file: 'sales.csv' }, { output: { rows: 1_204 } }),
    ]),
  );
}

interface RunWords {
  readonly agent: string;
  readonly title: string;
  /** How many milliseconds ago it began. */
  readonly began: number;
}

/** Returns the events of a run, 700 milliseconds apart. */
function runOf(
  { agent, title, began }: RunWords,
  parts: readonly (EventDraft | readonly EventDraft[])[],
): readonly EventDraft[] {
  const events: readonly EventDraft[] = [{ type: 'run.started', data: { title } }, ...parts.flat()];
  return events.map((event, at) => ({ agent, run: 'run-1', turn: 1, time: ago(began - at * 700), ...event }));
}

/** Returns the start and the end of a call of a tool. */
function toolCall(name: string, input: JsonObject, end: JsonObject): readonly EventDraft[] {
  const call = { call: 'c1', kind: 'tool', name };
  const outcome = end['error'] === undefined ? 'ok' : 'error';
  return [
    { type: 'call.started', id: `start-${name}`, data: { ...call, effect: 'pure', input } },
    { type: 'call.ended', cause: `start-${name}`, data: { ...call, outcome, latencyMs: 700, ...end } },
  ];
}

/** Records agents that prepare a release: what they believe, their goal, a test that fails, an answer in Markdown. */
async function recordRelease(session: Session): Promise<void> {
  const who = { agent: 'planner', run: 'run-1', turn: 1 };
  const plan =
    '## Plan\n\n1. Run the tests of `billing`\n2. **Fix** what fails\n3. Publish, then say so\n\n> No new feature.';
  const messages = [{ role: 'user', content: 'Prepare release 2.4. Change no public names.' }];
  const call = { call: 'plan', kind: 'model', name: 'large-1' };
  await session.append([
    { type: 'run.started', time: ago(5_000), ...who, data: { title: 'Prepare release 2.4' } },
    { type: 'call.started', id: 'plan', time: ago(4_800), ...who, data: { ...call, request: { messages } } },
    {
      type: 'call.ended',
      cause: 'plan',
      time: ago(2_700),
      ...who,
      data: {
        ...call,
        outcome: 'ok',
        latencyMs: 2_100,
        usage: { inputTokens: 812, outputTokens: 64 },
        message: { role: 'assistant', content: plan },
      },
    },
    { type: 'run.ended', time: ago(2_600), ...who, data: { outcome: 'ok', result: 'The plan stands.' } },
  ]);
  const { coding } = session;
  await coding.goal({ title: 'Release 2.4', description: 'Every test of billing passes.' });
  await coding.constraint({ key: 'public_names', value: false, text: 'Change no public names.' });
  const failures = [{ testId: 'billing/round.test.ts > rounds half a cent up', message: 'expected 0.51, got 0.50' }];
  await coding.testRun({ command: 'vitest run billing', exitCode: 1, framework: 'vitest', failures });
  await coding.patch({ file: 'billing/round.ts', before: 'Math.floor(cents)\n', after: 'Math.round(cents)\n' });
  await coding.decision({ decision: 'Round half up, as the invoice does' });
  await session.beliefs.commit({ agent: 'planner', topic: 'release', claim: 'Version 2.4 goes out today' });
  await session.beliefs.commit({
    agent: 'tester',
    topic: 'billing',
    claim: 'Rounding is wrong',
    kind: 'fact',
    trust: 0.8,
  });
  await session.beliefs.commit({ agent: 'tester', topic: 'billing', claim: 'Only euros are affected', kind: 'fact' });
}
