import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import type { Outcome } from '../event/event.ts';
import { isObject, type JsonObject, type JsonValue, valueAt } from '../json.ts';
import { checkKeys, type KnownKeys, shownValue } from '../known-keys.ts';
import { checkSimulation, isSimulation, type Simulation } from './simulation.ts';

/**
 * The effect of a call on the world: nothing; the same however often it is made; something that cannot be undone; or
 * unknown.
 */
export type EffectClass = 'pure' | 'idempotent' | 'irreversible' | 'unknown';

/**
 * The policy for a call: make it; make it only if the session has never made it; answer it from the record; ask a
 * person; or refuse it.
 */
export type EffectAction = 'run' | 'once' | 'reuse' | 'ask' | 'refuse';

/** The decision about a call: make it, answer it from the record or by its simulation, ask a person, or refuse it. */
export type EffectDecision = 'run' | 'reuse' | 'simulate' | 'ask' | 'refuse';

/** The parts of a call that its effect class depends on. */
export interface EffectCall {
  /** One of model, tool, http, mcp, process, person. */
  readonly kind: string;
  readonly name: string;
  /** The effect class that the program declared; it goes before everything else. */
  readonly effect?: EffectClass;
  /** The method of an HTTP call. */
  readonly method?: string;
  /** The annotations of an MCP tool, as the server gave them. */
  readonly annotations?: JsonObject;
}

/** Returns the effect class of a call. */
export function effectOf(call: EffectCall): EffectClass {
  if (call.effect !== undefined) return call.effect;
  switch (call.kind) {
    case 'model':
      return 'pure';
    case 'http':
      return /^(get|head)$/i.test(call.method ?? '') ? 'pure' : 'unknown';
    case 'mcp':
      return annotatedEffect(call.annotations);
    default:
      return 'unknown';
  }
}

/** Returns the class that a table declares for a tool; undefined if it declares none. */
export function declaredEffect(
  effects: Readonly<Record<string, EffectClass>> | undefined,
  name: string,
): EffectClass | undefined {
  return effects !== undefined && Object.hasOwn(effects, name) ? effects[name] : undefined;
}

/** Returns the class of a tool that several declare: `irreversible` if one of them says so, else the first that is known. */
export function agreedEffect(...declared: readonly (EffectClass | undefined)[]): EffectClass | undefined {
  return declared.find((effect) => effect === 'irreversible') ?? declared.find((effect) => effect !== undefined);
}

/** Returns the classes of the tools that several tables declare; see {@link agreedEffect}. */
export function agreedEffects(
  ...tables: readonly (Readonly<Record<string, EffectClass>> | undefined)[]
): Readonly<Record<string, EffectClass>> {
  const names = new Set(tables.flatMap((table) => Object.keys(table ?? {})));
  const agreed = [...names].map((name) => [name, agreedEffect(...tables.map((table) => declaredEffect(table, name)))]);
  return Object.fromEntries(agreed.filter(([, effect]) => effect !== undefined));
}

/** Hints count only if the server gave them: the defaults of MCP say nothing about this tool. */
function annotatedEffect(annotations: JsonObject | undefined): EffectClass {
  if (annotations?.['readOnlyHint'] === true) return 'pure';
  if (annotations?.['idempotentHint'] === true) return 'idempotent';
  return annotations?.['destructiveHint'] === true ? 'irreversible' : 'unknown';
}

/** Reads the call from the data of a `call.started`. */
export function effectCallOf(data: JsonObject): EffectCall {
  const { kind, name, effect } = data;
  const method = valueAt(data, ['input', 'method']);
  const annotations = data['annotations'];
  return {
    kind: String(kind),
    name: String(name),
    ...(isEffectClass(effect) ? { effect } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
  };
}

/** Returns true if a value names an effect class. */
export function isEffectClass(value: unknown): value is EffectClass {
  return value === 'pure' || value === 'idempotent' || value === 'irreversible' || value === 'unknown';
}

/** Returns the key of an effect: name, canonical arguments, and how many equal calls the run made before it. */
export function effectKey(name: string, input: JsonValue | undefined, ordinal: number): string {
  return JSON.stringify([name, input === undefined ? null : canonicalJson(input), ordinal]);
}

/** The recorded state of the same effect. */
export type EffectRecord =
  | { readonly kind: 'never' }
  /** It ended before the point, in the continued history. */
  | { readonly kind: 'before' }
  /** It ended after the point, or on a different branch of the session. */
  | { readonly kind: 'elsewhere'; readonly outcome: Outcome }
  /** It was started, and it is unknown whether it happened. */
  | { readonly kind: 'inDoubt' };

/** A call that is about to be made. */
export interface EffectSituation {
  readonly name: string;
  readonly effect: EffectClass;
  readonly record: EffectRecord;
  /** Whether there is a person to ask. Without one, `ask` means `refuse`. */
  readonly canAsk: boolean;
  /** Who makes the call: a resume, or a branch of an experiment, which is a what-if and never makes it unless told to. */
  readonly by: 'resume' | 'experiment';
}

/** Actions by effect class, and actions or simulations by name. A name goes before a class. */
export interface EffectTable {
  readonly classes?: Readonly<Partial<Record<EffectClass, EffectAction>>>;
  readonly names?: Readonly<Record<string, EffectAction | Simulation>>;
}

/**
 * Overrides the default policy: one action for everything that has an effect, actions by effect class and by name, or
 * the simulations of tools by name. Pure calls are only affected by name.
 */
export type EffectPolicy = EffectAction | EffectTable | Readonly<Record<string, Simulation>>;

/** Returns a policy as a table, or the one action it is. */
function tableOf(policy: EffectPolicy | undefined): EffectAction | EffectTable {
  if (policy === undefined) return {};
  return typeof policy === 'string' || !isSimulations(policy) ? policy : { names: policy };
}

/** Returns true if an object is a table of simulations by the names of tools. */
function isSimulations(
  policy: EffectTable | Readonly<Record<string, Simulation>>,
): policy is Readonly<Record<string, Simulation>> {
  const values: readonly unknown[] = Object.values(policy);
  return values.length > 0 && values.every(isSimulation);
}

/** Returns the simulation of a tool, if the policy has one. */
export function simulationOf(policy: EffectPolicy | undefined, name: string): Simulation | undefined {
  const table = tableOf(policy);
  if (typeof table === 'string') return undefined;
  const found = table.names !== undefined && Object.hasOwn(table.names, name) ? table.names[name] : undefined;
  return isSimulation(found) ? found : undefined;
}

/** Returns a policy with more simulations; those it already has go before. */
export function withSimulations(
  policy: EffectPolicy | undefined,
  simulations: Readonly<Record<string, Simulation>>,
): EffectPolicy | undefined {
  if (Object.keys(simulations).length === 0) return policy;
  const table = tableOf(policy);
  if (typeof table !== 'string') return { ...table, names: { ...simulations, ...table.names } };
  // One action applies to everything but pure calls.
  const classes = { idempotent: table, irreversible: table, unknown: table };
  return { classes, names: simulations };
}

/** Decides what to do with a call, by the caller's policy, else by the default. */
export function decideEffect(policy: EffectPolicy | undefined, situation: EffectSituation): EffectDecision {
  const wanted = wantedAction(tableOf(policy), situation);
  const action = wanted === undefined ? defaultAction(situation) : overriddenAction(wanted, situation);
  return action === 'ask' && !situation.canAsk ? 'refuse' : action;
}

/** Returns true if a policy, and not the default, decides about a call. */
export function isDecidedBy(policy: EffectPolicy | undefined, call: Pick<EffectSituation, 'name' | 'effect'>): boolean {
  return wantedAction(tableOf(policy), call) !== undefined;
}

function wantedAction(
  policy: EffectAction | EffectTable,
  { name, effect }: Pick<EffectSituation, 'name' | 'effect'>,
): EffectAction | Simulation | undefined {
  if (typeof policy === 'string') return effect === 'pure' ? undefined : policy;
  const { names = {}, classes = {} } = policy;
  return Object.hasOwn(names, name) ? names[name] : classes[effect];
}

/**
 * An answer from before the point is part of the continued history. Using it does nothing, so only `run` overrides it.
 * If no answer is recorded, `reuse` means the default; if one is, or may be, `once` does.
 */
function overriddenAction(wanted: EffectAction | Simulation, situation: EffectSituation): EffectDecision {
  const { kind } = situation.record;
  if (kind === 'before') return wanted === 'run' ? 'run' : 'reuse';
  if (isSimulation(wanted)) return 'simulate';
  if (wanted === 'reuse') return kind === 'elsewhere' ? 'reuse' : defaultAction(situation);
  if (wanted === 'once') return kind === 'never' ? 'run' : defaultAction(situation);
  return wanted;
}

function defaultAction(situation: EffectSituation): EffectDecision {
  const { effect, record, by } = situation;
  if (record.kind === 'before') return 'reuse';
  if (effect === 'pure' || effect === 'idempotent') return 'run';
  if (effect === 'irreversible') return by === 'experiment' ? whatIfAction(record) : 'ask';
  if (record.kind === 'never') return 'run';
  return record.kind === 'inDoubt' ? 'ask' : elsewhereAction(record.outcome);
}

/** An experiment makes no irreversible call: it takes the recorded answer to an equal one, or stops. */
function whatIfAction(record: EffectRecord): EffectDecision {
  const isAnswered = record.kind === 'elsewhere' && (record.outcome === 'ok' || record.outcome === 'error');
  return isAnswered ? 'reuse' : 'refuse';
}

/** An `unknown` call that failed may be tried again; one that was cut off may have happened, and is in doubt. */
function elsewhereAction(outcome: Outcome): EffectDecision {
  if (outcome === 'ok') return 'reuse';
  return outcome === 'error' ? 'run' : 'ask';
}

const effectClasses: readonly EffectClass[] = ['pure', 'idempotent', 'irreversible', 'unknown'];

/** The actions of a policy, as they are written. */
export const effectActions: readonly EffectAction[] = ['run', 'once', 'reuse', 'ask', 'refuse'];

/**
 * Throws if the options of an adapter are not valid: a misspelled effect class would let a call be repeated silently.
 */
export function checkDeclared(
  options: { readonly effects?: Readonly<Record<string, EffectClass>> },
  known: KnownKeys,
): void {
  checkKeys(options, known);
  for (const [name, effect] of Object.entries(options.effects ?? {}))
    if (effect !== undefined) checkWord(`effects.${name}`, effect, effectClasses);
}

/** Throws if a policy is not valid: a misspelled entry would decide nothing. */
export function checkEffectPolicy(policy: EffectPolicy | undefined): void {
  if (policy === undefined) return;
  if (typeof policy !== 'object' || policy === null) return checkWord('effects', policy, effectActions);
  if (isSimulations(policy)) {
    for (const [name, simulation] of Object.entries(policy)) checkSimulation(`effects.${name}`, simulation);
    return;
  }
  for (const field of Object.keys(policy)) checkWord(`a field of effects`, field, ['classes', 'names']);
  for (const [name, action] of Object.entries(policy.classes ?? {})) {
    checkWord('a class of effects', name, effectClasses);
    if (action !== undefined) checkWord(`effects.classes.${name}`, action, effectActions);
  }
  for (const [name, action] of Object.entries(policy.names ?? {})) {
    if (isSimulation(action)) checkSimulation(`effects.names.${name}`, action);
    else checkWord(`effects.names.${name}`, action, effectActions);
  }
}

function checkWord(what: string, word: unknown, words: readonly string[]): void {
  if (words.some((known) => known === word)) return;
  throw new RepriseError('option.invalid', `Cannot use ${shownValue(word)} as ${what}`, {
    hint: `Use one of ${words.join(', ')}.`,
    details: { option: what },
  });
}
