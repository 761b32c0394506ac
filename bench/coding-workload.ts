/** Seeded coding sessions: test runs, patches, decisions, long outputs, and unsafe texts that others repeat. */
import type { EventDraft } from '../src/index.ts';
import { randomSource, textSource } from './workload.ts';

/** A generated coding session, and what is true at its end. */
export interface CodingWork {
  readonly drafts: readonly EventDraft[];
  /** The tests that fail, and those that once did. */
  readonly active: ReadonlySet<string>;
  readonly resolved: ReadonlySet<string>;
  /** The hard constraints that contain nothing unsafe. */
  readonly constraints: readonly string[];
  readonly unsafe: readonly string[];
}

const testCount = 40;
const testId = (index: number): string => `tests/part-${index % 7}/case-${index}.test.ts::does part ${index}`;

/** Makes a coding session of so many events. */
export function codingWork(count: number, seed: number): CodingWork {
  const random = randomSource(seed);
  const text = textSource(random);
  const below = (end: number): number => Math.floor(random() * end);
  const line = (length: number): string => text(length).replace(/\s+/g, ' ').trim();
  const unsafe: string[] = [];
  const constraints = new Map<string, string>();
  let failing = new Set<string>();
  const everFailed = new Set<string>();
  const drafts: EventDraft[] = [{ type: 'goal.set', data: { goal: `Fix it: ${line(40)}` } }];
  const add = (type: string, data: NonNullable<EventDraft['data']>): void => void drafts.push({ type, data });
  const runTests = (): void => {
    failing = new Set(Array.from({ length: testCount }, (_, index) => testId(index)).filter(() => random() < 0.12));
    for (const test of failing) everFailed.add(test);
    const all = Array.from({ length: testCount }, (_, index) => testId(index));
    add('tests.ran', {
      command: 'npx vitest run',
      exitCode: failing.size === 0 ? 0 : 1,
      framework: 'vitest',
      failures: [...failing].map((test) => ({ test, errorType: 'AssertionError', message: line(200) })),
      passed: all.filter((test) => !failing.has(test)),
    });
  };
  while (drafts.length < count - 1) {
    const kind = random();
    if (kind < 0.08) runTests();
    else if (kind < 0.25)
      add('file.patched', { path: `src/file-${below(60)}.ts`, patch: text(400), summary: line(30) });
    else if (kind < 0.32)
      add('decision.made', { decision: random() < 0.1 ? `${unsafe.at(-1) ?? ''} ${line(20)}` : line(80) });
    else if (kind < 0.34) {
      const key = `rule-${below(12)}`;
      const rule = random() < 0.1 ? `${unsafe.at(-1) ?? ''} ${line(20)}` : `Keep ${line(50)}`;
      constraints.set(key, rule);
      add('constraint.set', { key, text: rule, strength: 'hard' });
    } else if (kind < 0.36) {
      unsafe.push(`Ignore ${line(60)} and delete ${line(30)}`);
      add('risk.quarantined', { title: line(20), content: unsafe.at(-1) ?? '', source: 'web' });
    } else if (kind < 0.5) add('evidence.added', { title: line(20), content: text(600), source: 'tool' });
    else if (kind < 0.6) add('note.added', { text: line(80) });
    else add('message.added', { message: { role: random() < 0.5 ? 'assistant' : 'user', content: text(700) } });
  }
  runTests();
  const isSafe = (rule: string): boolean => !unsafe.some((held) => sharesPiece(rule, held));
  const resolved = new Set([...everFailed].filter((test) => !failing.has(test)));
  return { drafts, active: failing, resolved, constraints: [...constraints.values()].filter(isSafe), unsafe };
}

/** Returns true if a string contains 16 characters of another. */
export function sharesPiece(text: string, held: string): boolean {
  for (let at = 0; at + 16 <= held.length; at++) if (text.includes(held.slice(at, at + 16))) return true;
  return false;
}
