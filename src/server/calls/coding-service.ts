import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CodingHandle } from '../../engine/coding/coding-handle.ts';
import type { CodingPlace, CodingService } from '../../wire/generated/reprise/v1/coding_pb.ts';
import { objectIn } from '../http/json-text.ts';
import { optionsIn, type VerbParts } from './session-service.ts';

/** The verbs that record one thing, by name. The verb itself checks what it gets. */
const recordingVerbs = {
  startRun: (coding: CodingHandle, input: JsonObject) => coding.startRun(input as never),
  endRun: (coding: CodingHandle, input: JsonObject) => coding.endRun(input as never),
  goal: (coding: CodingHandle, input: JsonObject) => coding.goal(input as never),
  constraint: (coding: CodingHandle, input: JsonObject) => coding.constraint(input as never),
  testRun: (coding: CodingHandle, input: JsonObject) => coding.testRun(input as never),
  patch: (coding: CodingHandle, input: JsonObject) => coding.patch(input as never),
  decision: (coding: CodingHandle, input: JsonObject) => coding.decision(input as never),
  procedure: (coding: CodingHandle, input: JsonObject) => coding.procedure(input as never),
  evidence: (coding: CodingHandle, input: JsonObject) => coding.evidence(input as never),
  risk: (coding: CodingHandle, input: JsonObject) => coding.risk(input as never),
  fact: (coding: CodingHandle, input: JsonObject) => coding.fact(input as never),
} as const satisfies Readonly<Record<string, (coding: CodingHandle, input: JsonObject) => Promise<Event>>>;

const answerOf = (value: unknown): { readonly answer: string } => ({ answer: JSON.stringify(value ?? null) });
const pointIn = (point: string): string | undefined => (point === '' ? undefined : point);

/** Returns the verbs of coding sessions. */
export function codingService({ repriseOf }: VerbParts): ServiceImpl<typeof CodingService> {
  const at = async (context: HandlerContext, place: CodingPlace | undefined): Promise<CodingHandle> => {
    const { namespace = '', session: id = '', branch = '', agent = '' } = place ?? {};
    const { coding } = await repriseOf(context, namespace).session(id);
    const placed = branch === '' ? coding : coding.on(branch);
    return agent === '' ? placed : placed.as(agent);
  };
  return {
    async recordCoding({ place, verb, input }, context) {
      const record = Object.hasOwn(recordingVerbs, verb)
        ? recordingVerbs[verb as keyof typeof recordingVerbs]
        : undefined;
      if (record === undefined) throw noVerb(verb);
      return answerOf(await record(await at(context, place), objectIn(input, 'input')));
    },
    async prepareRequest({ place, input }, context) {
      return answerOf(await (await at(context, place)).prepareRequest(objectIn(input, 'input') as never));
    },
    async configureCoding({ place, settings }, context) {
      await (await at(context, place)).configure(objectIn(settings, 'settings') as never);
      return {};
    },
    async getContext({ place, point, options }, context) {
      return answerOf(await (await at(context, place)).contextAt(pointIn(point), optionsIn(options)));
    },
    async getFiles({ place, point, options }, context) {
      return answerOf(await (await at(context, place)).filesAt(pointIn(point), optionsIn(options)));
    },
    async replayCoding({ place, point, run, options }, context) {
      const coding = await at(context, place);
      const asked = optionsIn<object>(options);
      return answerOf(run === '' ? await coding.replayAt(pointIn(point), asked) : await coding.replayRun(run, asked));
    },
    async replayCodingWithout({ place, options }, context) {
      return answerOf(await (await at(context, place)).replayCounterfactual(optionsIn(options)));
    },
    async diffRuns({ place, before, after }, context) {
      return answerOf(await (await at(context, place)).diffRuns(before ?? null, after));
    },
  };
}

function noVerb(verb: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot record: there is no verb ${JSON.stringify(verb.slice(0, 80))}`, {
    hint: `The verbs are ${Object.keys(recordingVerbs).join(', ')}.`,
    details: { path: 'verb' },
  });
}
