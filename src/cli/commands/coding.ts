import { Option } from 'commander';
import { receiptText } from '../../core/coding/receipt-text.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import { coding as codingProjection } from '../../projections/coding.ts';
import {
  type CodingLook,
  codingAnswer,
  codingOn,
  compareCoding,
  replayOf,
} from '../../reading/answers/coding-answer.ts';
import type { OpenRef } from '../../reading/open-ref.ts';
import { plural } from '../../wording/amount.ts';
import { seqsText } from '../../wording/seqs.ts';
import { plain, plainLines } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, listOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { recorders, recordOptions } from '../options/coding-record.ts';
import { wholeNumber } from '../options/number-option.ts';
import { codingDiffLines, codingLines, fileLines } from '../render/coding-lines.ts';

type Look = (context: Context, words: readonly string[], options: OptionValues) => Promise<number>;

const looks: Readonly<Record<CodingLook, Look>> = {
  status: (context, [text = 'latest']) => status(context, text),
  context: (context, [text = 'latest'], options) => shownContext(context, text, options),
  replay: (context, [text = 'latest'], options) => replay(context, text, options),
  receipt: (context, [text = 'latest'], options) => receipt(context, text, options),
  request: (context, [text = 'latest'], options) => request(context, text, options),
  files: (context, [text = 'latest', ...paths]) => files(context, text, paths),
  diff: (context, [before = '', after = '']) => diff(context, before, after),
  export: (context, [text = ''], options) => exported(context, text, options),
  record: (context, words, options) => record(context, words, options),
};

/** `reprise coding`. */
export const coding: CommandSpec = {
  arguments: [
    { name: '<what>', about: 'what to do', choices: Object.keys(looks) },
    {
      name: '[words...]',
      about: 'the ref; diff: two refs; files: a ref and paths; record: a kind, a ref and its text',
    },
  ],
  options: [
    new Option('--goal <text>', 'goal of the moment, before the recorded one'),
    new Option('--budget <tokens>', 'tokens that the context may take').argParser(wholeNumber),
    new Option('--exclude <events...>', 'replay without these events, by seq or id'),
    new Option('--cascade', 'with --exclude: also without everything that depends on them'),
    new Option('--model <model>', 'model of the request'),
    new Option('--instructions <text>', 'instructions of the request'),
    new Option('--input <text>', "user's words in the request"),
    new Option('--provider <name>', 'payload to print').choices(['openai', 'anthropic']).default('openai'),
    new Option('--to <dir>', 'folder to export to'),
    new Option('--replace', 'replace a folder that has other content'),
    new Option('--anthropic', 'also export the payload for Anthropic'),
    ...recordOptions,
  ],
  examples: [
    'reprise coding record goal work "Fix the parser"',
    'reprise coding record constraint work "Do not edit tests." --key edit_tests',
    'reprise coding status work',
    'reprise coding context work --budget 500',
    'reprise coding replay work --exclude 2',
    'reprise coding receipt work',
  ],
  run: async (context, [what = 'status', ...words], options) => looks[what as CodingLook](context, words, options),
};

async function status(context: Context, text: string): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const known = await found.session.at(found.point).fold(codingProjection);
  if (out.json !== undefined) await out.value(codingAnswer(found, 'status', known));
  else {
    const lines = codingLines(out, known);
    await out.lines(lines.length === 0 ? ['Nothing of a coding session is recorded here.'] : lines.slice(1));
    out.next(`reprise coding context ${refText(found.ref)}`);
  }
  return done;
}

function contextOptions(options: OptionValues): { readonly currentGoal?: string; readonly budgetTokens?: number } {
  return given({ currentGoal: textOption(options, 'goal'), budgetTokens: numberOption(options, 'budget') });
}

async function shownContext(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const shown = await found.session.at(found.point).coding.context(contextOptions(options));
  if (out.json !== undefined) await out.value(codingAnswer(found, 'context', shown));
  else {
    await out.write(plainLines(shown.text));
    const over = shown.overBy === 0 ? '' : `, ${shown.overBy} over`;
    out.say(`${shown.tokens} of ${plural(shown.budgetTokens, 'token')}${over}, counted by ${shown.counter}.`);
    out.next(`reprise coding receipt ${refText(found.ref)}`);
  }
  return done;
}

function replayOptions(options: OptionValues): Parameters<typeof replayOf>[1] {
  const texts = {
    model: textOption(options, 'model'),
    instructions: textOption(options, 'instructions'),
    input: textOption(options, 'input'),
  };
  return { ...contextOptions(options), ...given(texts) };
}

async function replay(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const exclude = listOption(options, 'exclude')
    .flatMap((words) => words.split(','))
    .map((word) => (/^\d+$/.test(word) ? Number(word) : word));
  if (exclude.length > 0) return replayWithout(context, found, { exclude, options });
  const replayed = await replayOf(found, replayOptions(options));
  if (out.json !== undefined) await out.value(codingAnswer(found, 'replay', replayed));
  else {
    await out.write(plainLines(replayed.context.text));
    out.say(`snapshot ${replayed.snapshotHash}`);
    out.say(`receipt  ${replayed.receipt.hash}`);
    out.say(replayed.request === null ? 'No request was captured.' : 'The request is rebuilt too.');
    out.next(`reprise coding request ${refText(found.ref)}`);
  }
  return done;
}

interface Without {
  readonly exclude: readonly (number | string)[];
  readonly options: OptionValues;
}

async function replayWithout({ out }: Context, found: OpenRef, { exclude, options }: Without): Promise<number> {
  const { at } = found.ref;
  if (at.kind !== 'head' && at.kind !== 'run')
    throw new RepriseError(
      'ref.invalid',
      `Cannot replay "${refText(found.ref)}" without some events: it is neither a branch nor a run`,
      {
        hint: 'Name a branch, or the end of a run: session@run:ID.',
      },
    );
  const run = at.kind === 'run' ? at.run : undefined;
  const asked = { ...replayOptions(options), exclude, cascade: flagOption(options, 'cascade'), ...given({ run }) };
  const without = await codingOn(found).replayCounterfactual(asked);
  if (out.json !== undefined) await out.value(codingAnswer(found, 'replay', without));
  else {
    await out.line(out.bold(`Without ${seqsText(without.excluded)}`));
    await out.lines(codingDiffLines(out, without.diff));
    if (without.dependents.length > 0)
      out.say(
        `Kept although they depend on it: ${seqsText(without.dependents)}. To leave them out too, add --cascade.`,
      );
  }
  return done;
}

async function receipt(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const { receipt: held } = await replayOf(found, { ...replayOptions(options), prepareRequest: false });
  if (out.json !== undefined) await out.value(codingAnswer(found, 'receipt', held));
  else await out.write(plainLines(receiptText(held)));
  return done;
}

async function request(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const replayed = await replayOf(found, { ...replayOptions(options), prepareRequest: true });
  const provider = textOption(options, 'provider') === 'anthropic' ? 'anthropic' : 'openai';
  const payload = replayed.request?.[provider] ?? null;
  if (out.json !== undefined) await out.value(codingAnswer(found, 'request', payload));
  else await out.jsonFile(`${JSON.stringify(payload, null, 2)}\n`);
  return done;
}

async function files(context: Context, text: string, paths: readonly string[]): Promise<number> {
  const { out } = context;
  const found = await context.at(text);
  const rebuilt = await found.session.at(found.point).coding.files(paths.length === 0 ? {} : { paths });
  const [only] = rebuilt;
  if (out.json !== undefined) await out.value(codingAnswer(found, 'files', rebuilt));
  else if (paths.length === 1 && only?.status === 'known') await out.textFile(only.content);
  else await out.lines(rebuilt.length === 0 ? [noPatch(paths)] : fileLines(out, rebuilt));
  return done;
}

const noPatch = (paths: readonly string[]): string =>
  paths.length === 0 ? 'No patch is recorded here.' : `No patch of ${plain(paths.join(', '))} is recorded here.`;

async function diff(context: Context, before: string, after: string): Promise<number> {
  const { out } = context;
  if (before === '' || after === '')
    throw new RepriseError('option.invalid', 'Cannot compare: diff takes two refs', {
      hint: 'For example: reprise coding diff work@run:run-1 work@run:run-2.',
    });
  const [left, right] = [await context.at(before), await context.at(after)];
  const found = await compareCoding(left, right);
  if (out.json !== undefined) await out.value(codingAnswer(right, 'diff', found));
  else await out.lines(codingDiffLines(out, found));
  return done;
}

async function exported(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const dir = textOption(options, 'to');
  const found = await context.at(text);
  const { at } = found.ref;
  if (at.kind !== 'run' || dir === undefined)
    throw new RepriseError('option.invalid', `Cannot export "${text}": it takes a run and --to`, {
      hint: 'For example: reprise coding export work@run:run-1 --to artifacts/run-1.',
    });
  const more = { replace: flagOption(options, 'replace'), anthropic: flagOption(options, 'anthropic') };
  const written = await codingOn(found).exportRun(at.run, dir, { ...replayOptions(options), ...more });
  if (out.json !== undefined) await out.value(codingAnswer(found, 'export', written));
  else {
    out.say(`Wrote ${plural(written.files.length, 'file')} to ${plain(dir)}.`);
    await out.line(written.manifestHash);
    out.next(`reprise verify ${dir}`);
  }
  return done;
}

async function record(
  context: Context,
  [kind = '', text = '', ...words]: readonly string[],
  options: OptionValues,
): Promise<number> {
  const { out } = context;
  const recorder = Object.hasOwn(recorders, kind) ? recorders[kind] : undefined;
  if (recorder === undefined || text === '')
    throw new RepriseError('option.invalid', `Cannot record ${kind === '' ? 'nothing' : JSON.stringify(kind)}`, {
      hint: `Write: reprise coding record KIND REF [TEXT]. KIND is one of ${Object.keys(recorders).join(', ')}.`,
    });
  context.checkMasking();
  const found = await context.created(text);
  const said = words.length === 0 ? undefined : words.join(' ');
  const event = await recorder(codingOn(found), said, await withEventId(found, options));
  if (out.json !== undefined) await out.value(codingAnswer(found, 'record', event));
  else {
    await out.line(
      `${refText({ ...found.ref, at: { kind: 'seq', seq: event.seq } })}  ${event.type}${event.run === undefined ? '' : `  run ${plain(event.run)}`}`,
    );
    out.next(`reprise coding status ${refText(found.ref)}`);
  }
  return done;
}

/** Returns the options with the id of the event that they name by its seq, which is what a terminal shows. */
async function withEventId({ session, ref }: OpenRef, options: OptionValues): Promise<OptionValues> {
  const named = textOption(options, 'event');
  if (named === undefined || !/^\d+$/.test(named)) return options;
  const at = { branch: ref.branch, seq: Number(named) };
  for await (const { seq, id } of session.at(at).replay({ direction: 'backward', limit: 1 }))
    if (seq === at.seq) return { ...options, event: id };
  throw new RepriseError('event.not-found', `Cannot find seq ${named} in the view of "${ref.branch}"`, {
    hint: 'Choose a seq that "reprise replay" lists.',
  });
}
