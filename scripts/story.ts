// What `npm start` shows: one small story on a real store, in a file that is gone afterwards.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { type Comparison, conversation, type EventDraft, openReprise, type Session } from '../src/index.ts';

const say = (text = ''): void => void process.stdout.write(`${text}\n`);
const title = (number: number, text: string): void => say(`\n${styleText(['bold', 'cyan'], `${number}  ${text}`)}`);
const code = (text: string): void => say(styleText('dim', `   ${text}`));
const bad = (text: string): string => styleText('red', text);
const good = (text: string): string => styleText('green', text);

const question = 'Order 7 arrived broken. Please refund it.';
const system = 'You are a support agent. Resolve refunds quickly.';
const better = 'You are a support agent. Look the order up before you refund it.';

/** What the agent did: it asked a model, the model called a tool with a guess, and the guess was wrong. */
function recording(): EventDraft[] {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ];
  return [
    { type: 'run.started', data: { title: 'Refund of order 7' } },
    { type: 'message.added', turn: 1, data: { message: { role: 'user', content: question } } },
    { type: 'call.started', data: { call: 'm1', kind: 'model', name: 'small-1', request: { messages } } },
    {
      type: 'call.ended',
      data: {
        call: 'm1',
        kind: 'model',
        name: 'small-1',
        outcome: 'ok',
        message: {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'refund', input: { order: 7, amount: 500 } }],
        },
      },
    },
    {
      type: 'call.started',
      data: { call: 'c1', kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7, amount: 500 } },
    },
    {
      type: 'call.ended',
      data: { call: 'c1', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: 500, paid: 50 } },
    },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 500.' } },
  ].map((draft) => ({ agent: 'support', run: 'run-1', ...draft }));
}

/** What the same agent does from there with better instructions. */
function another(): EventDraft[] {
  return [
    {
      type: 'call.started',
      turn: 2,
      data: { call: 'c2', kind: 'tool', name: 'lookup', effect: 'pure', input: { order: 7 } },
    },
    {
      type: 'call.ended',
      data: { call: 'c2', kind: 'tool', name: 'lookup', outcome: 'ok', output: { order: 7, paid: 50 } },
    },
    {
      type: 'call.started',
      data: { call: 'c3', kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7, amount: 50 } },
    },
    {
      type: 'call.ended',
      data: { call: 'c3', kind: 'tool', name: 'refund', outcome: 'ok', output: { refunded: 50, paid: 50 } },
    },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 50.' } },
  ].map((draft) => ({ agent: 'support', run: 'run-2', ...draft }));
}

async function record(session: Session): Promise<void> {
  title(1, 'Record what the agent did');
  code('await session.append(events)');
  await session.append(recording());
  for await (const event of session.replay()) {
    const { name, input, output, message } = event.data as Record<string, unknown>;
    const detail = [name, input ?? output, message]
      .filter((part) => part !== undefined)
      .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
    const line = `   ${String(event.seq).padStart(2)}  ${event.type.padEnd(14)} ${detail.join(' ').slice(0, 84)}`;
    say(event.type === 'call.ended' && name === 'refund' ? bad(`${line}  ← paid 50, refunded 500`) : line);
  }
}

async function look(session: Session): Promise<void> {
  title(2, 'Look: what did it know just before the bad call?');
  code("await session.stateAt('main@3', conversation)");
  const seen = await session.stateAt('main@3', conversation);
  for (const { seq, message } of seen.messages)
    say(`   @${seq}  ${String(message?.['role']).padEnd(9)} ${String(message?.['content'])}`);
  say('   It was never told to check. That is the bug.');
}

async function forkThere(session: Session): Promise<void> {
  title(3, 'Fork that moment with one thing changed, and go on');
  code(`await session.fork('main@2', { name: 'careful', system: '…look the order up before you refund it.' })`);
  const branch = await session.fork('main@2', { name: 'careful', system: better, reason: 'it guessed the amount' });
  await branch.append(another());
  say(`   "careful" begins at main@2. Nothing was copied, and main is as it was.`);
}

function showDiff(diff: Comparison): void {
  title(4, 'Say exactly what changed');
  code("await reprise.diff('refund', 'refund/careful')");
  for (const pair of diff.pairs) {
    if (pair.kind === 'onlyLeft') say(bad(`   - ${String(pair.left).padStart(2)}  ${pair.type}`));
    else if (pair.kind === 'onlyRight') say(good(`   + ${String(pair.right).padStart(2)}  ${pair.type}`));
    else if (pair.kind === 'changed')
      say(
        `   ~ ${String(pair.left).padStart(2)}  ${pair.type}  ${pair.fields?.changed.map(({ path, left, right }) => `${path.join('.')}: ${bad(JSON.stringify(left))} → ${good(JSON.stringify(right))}`).join(', ') ?? ''}`,
      );
  }
  say(
    `   ${diff.matched} equal, ${diff.changed} changed, ${diff.onlyLeft} only before, ${diff.onlyRight} only after; they part after ${diff.forkPoint?.branch}@${diff.forkPoint?.seq}.`,
  );
}

async function prove(session: Session): Promise<void> {
  title(5, 'And prove that nobody touched the record');
  code("await session.verify({ at: 'careful' })");
  const { ok, events, digest } = await session.verify({ at: 'careful' });
  say(`   ${ok ? good('verified') : bad('NOT verified')}: ${events} events, digest ${digest?.slice(0, 16)}…`);
}

const directory = await mkdtemp(join(tmpdir(), 'reprise-story-'));
try {
  await using reprise = await openReprise(`sqlite:${join(directory, 'story.db')}`);
  say(styleText('bold', 'Reprise: a time machine for AI agents') + styleText('dim', '  (one SQLite file, no network)'));
  const session = await reprise.createSession('refund');
  await record(session);
  await look(session);
  await forkThere(session);
  showDiff(await reprise.diff('refund', 'refund/careful'));
  await prove(session);
  say(`\n${styleText('dim', 'The whole program is scripts/story.ts. Next: README.md and examples/.')}`);
} finally {
  await rm(directory, { recursive: true, force: true });
}
