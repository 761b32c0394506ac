import type { Budget, Variant } from '../../core/comparing/variants.ts';
import { parseVariants } from '../../core/comparing/variants.ts';
import { type ErrorJson, RepriseError } from '../../core/error.ts';
import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { EffectPolicy } from '../../core/recording/effects.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import { type Edit, editsOf } from '../../core/view/edit.ts';
import type { EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import type { Decisions } from '../../engine/resuming/person-decisions.ts';
import type { ExperimentSummary, ResumeAnswer } from '../answers/run-answers.ts';

/** The ways to start a run: on a new branch, at a head, once more from its beginning, or as an experiment. */
const runKinds = ['fork', 'resume', 'retry', 'experiment'] as const;

/** The order to start a run. */
export interface RunOrder extends Decisions {
  readonly kind: (typeof runKinds)[number];
  /** An agent of the configuration, by name; optional if there is only one. */
  readonly agent?: string;
  /** A new user message. */
  readonly prompt?: string;
  /** Of a fork, or of every variant of an experiment. */
  readonly edits?: readonly Edit[];
  /** The name of the new branch. */
  readonly name?: string;
  readonly reason?: string;
  readonly effects?: EffectPolicy;
  /** Tools that the simulations of the configuration answer. */
  readonly simulate?: readonly string[];
  readonly budget?: Budget;
  readonly timeoutMs?: number;
  /** Options for the framework's own run call. */
  readonly run?: JsonValue;
  /** Of a retry: a different model, and text to add to the prompt. */
  readonly model?: string;
  readonly extraContext?: string;
  /** Of an experiment. */
  readonly variants?: readonly Variant[];
  readonly repeats?: number;
  readonly parallel?: number;
  /** Of an experiment: a judge of the configuration, by name. */
  readonly judge?: string;
  /** Of an experiment: a text that the answer of a branch must contain to pass. */
  readonly expects?: string;
}

const orderKeys: KnownKeys = optionKeys<RunOrder>(
  'start a run',
  {
    kind: 'text',
    agent: 'text',
    prompt: 'text',
    edits: 'list',
    name: 'text',
    reason: 'text',
    effects: true,
    simulate: 'list',
    budget: 'object',
    timeoutMs: 'number',
    run: true,
    model: 'text',
    extraContext: 'text',
    variants: 'list',
    repeats: 'number',
    parallel: 'number',
    judge: 'text',
    expects: 'text',
    approve: 'list',
    deny: 'list',
    answer: 'object',
  },
  'the order of a run',
);

/** The fields that only one kind of run takes. */
const ownFields: Readonly<Partial<Record<keyof RunOrder, readonly RunOrder['kind'][]>>> = {
  edits: ['fork'],
  name: ['fork', 'retry'],
  prompt: ['fork', 'resume'],
  model: ['retry'],
  extraContext: ['retry'],
  variants: ['experiment'],
  repeats: ['experiment'],
  parallel: ['experiment'],
  judge: ['experiment'],
  expects: ['experiment'],
  approve: ['fork', 'resume'],
  deny: ['fork', 'resume'],
  answer: ['fork', 'resume'],
};

/** Takes a value from outside as the order of a run, or throws. The verbs check the values of their own options. */
export function runOrderFrom(value: JsonObject): RunOrder {
  const order = value as unknown as RunOrder;
  checkKeys(order, orderKeys);
  if (!runKinds.includes(order.kind))
    refuse(`"kind" is none of ${runKinds.join(', ')}`, 'Write { "kind": "fork", … }.');
  for (const field of Object.keys(order) as (keyof RunOrder)[]) {
    const kinds = ownFields[field];
    if (kinds?.includes(order.kind) === false)
      refuse(`"${field}" is not for a run of kind "${order.kind}"`, `Use it with ${kinds.join(' or ')}.`);
  }
  if (order.simulate?.some((name) => typeof name !== 'string') === true)
    refuse('"simulate" is not a list of names', 'Name tools: ["refund"].');
  if (order.kind === 'experiment') return { ...order, variants: parseVariants(order.variants ?? []).variants };
  return order;
}

/** Returns true if a run begins with edits, so that starting it writes history, too: those of a fork or of a variant. */
export function hasEdits({ edits = [], variants = [] }: RunOrder): boolean {
  return edits.length > 0 || variants.some((variant) => editsOf(variant).length > 0);
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot start a run: ${why}`, { hint });
}

/** An agent that can run here. */
export interface AgentRow {
  readonly name: string;
  /** The name of its framework, `function`, or `made when needed`. */
  readonly kind: string;
}

/** A question that a run asks a person. */
export type RunQuestion = {
  readonly id: string;
  readonly askedAt: string;
  /** The answer, once there is one. */
  readonly answer: QuestionAnswer | null;
} & (
  | { readonly kind: 'effect'; readonly question: EffectQuestion; readonly canSimulate: boolean }
  | { readonly kind: 'person'; readonly question: WaitingCall }
);

/** The answer to a question: about an effect, or of a person. */
export type QuestionAnswer =
  /** Whether a call is made; `simulate` answers it with a value instead. */
  | { readonly kind: 'effect'; readonly answer: 'run' | 'reuse' | 'refuse' }
  | { readonly kind: 'simulate'; readonly output?: JsonValue }
  | { readonly kind: 'approve' }
  | { readonly kind: 'deny'; readonly reason?: string }
  | { readonly kind: 'answer'; readonly output: JsonValue };

/** Takes a value from outside as the answer to a question, or throws. */
export function questionAnswerFrom(value: JsonObject): QuestionAnswer {
  const { kind, answer, reason, output } = value;
  const fields = Object.keys(value).filter((key) => key !== 'kind');
  const has = (...known: readonly string[]): boolean => fields.every((field) => known.includes(field));
  const isAnswer = answer === 'run' || answer === 'reuse' || answer === 'refuse';
  if (kind === 'effect' && isAnswer && has('answer')) return { kind, answer };
  if (kind === 'simulate' && has('output')) return output === undefined ? { kind } : { kind, output };
  if (kind === 'answer' && has('output') && output !== undefined) return { kind, output };
  if (kind === 'approve' && has()) return { kind };
  if (kind === 'deny' && has('reason') && (reason === undefined || typeof reason === 'string'))
    return { kind, ...given({ reason }) };
  throw new RepriseError('option.invalid', 'Cannot answer the question: the answer has no known form', {
    hint: 'Send { "kind": "effect", "answer": "run" | "reuse" | "refuse" }, { "kind": "simulate", "output"? }, { "kind": "approve" }, { "kind": "deny", "reason"? } or { "kind": "answer", "output" }.',
  });
}

/** A run that a server started. */
export interface StudioRun {
  readonly id: string;
  readonly namespace: string;
  readonly session: string;
  readonly kind: RunOrder['kind'];
  /** The point it was started at, as a ref. */
  readonly from: string;
  /** The branch it is recorded on; null until it is made, and for an experiment. */
  readonly branch: string | null;
  readonly agent: string;
  readonly startedAt: string;
  /** Null while it is under way. */
  readonly endedAt: string | null;
  /** Null while it is under way. */
  readonly outcome: string | null;
  readonly error: ErrorJson | null;
  /** The questions it asked, last first; open ones have no answer. */
  readonly questions: readonly RunQuestion[];
  /** The report of a run that ended, as `reprise resume --json` prints it; null once something is erased from its session. */
  readonly result: ResumeAnswer | null;
  /** The id and the summary of an experiment that ended, as `reprise experiment --json` prints it. */
  readonly experiment: ExperimentSummary | null;
  /** How many branches of an experiment have ended, and how many there are; null for other runs. */
  readonly progress: { readonly ended: number; readonly total: number } | null;
}
