import { useState } from 'react';
import { decisionsFor, joinedDecisions } from '../../../src/reading/looks/question-decisions.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { announce } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';
import { Failure } from '../parts/states.tsx';
import { asError, useAnswer } from '../parts/use-answer.ts';
import { PersonAnswers, PersonQuestion } from '../runs/questions.tsx';
import type { QuestionAnswer, WaitingCall } from '../source/answers.ts';
import type { PointName } from '../source/studio-source.ts';

/** The questions of a branch that waits for a person, wherever it was recorded. The last answer continues it here. */
export function WaitingBanner({ head }: { readonly head: PointName }): React.ReactNode {
  const studio = useStudio();
  const { source, runs } = studio;
  const { run: mayRun, whyNoRuns } = useCell(studio.rights);
  const isAskedHere = useCell(runs).some(
    ({ session, branch, endedAt, questions }) =>
      session === head.session &&
      branch === head.branch &&
      (endedAt === null || questions.some(({ answer }) => answer === null)),
  );
  const { value } = useAnswer(isAskedHere ? undefined : `waiting ${refOf(head)}`, async (signal) => {
    const [section] = await source.known(head, { projections: ['waiting'] }, signal);
    return (section?.value.value as { readonly calls?: readonly WaitingCall[] } | undefined)?.calls ?? [];
  });
  const { value: agents } = useAnswer(mayRun ? 'agents' : undefined, (signal) => source.agents(signal), {
    keep: false,
  });
  const [agent, setAgent] = useState('');
  const [answers, setAnswers] = useState<ReadonlyMap<string, QuestionAnswer>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ReturnType<typeof asError>>();
  const calls = value ?? [];
  if (isAskedHere || calls.length === 0) return null;
  const names = agents?.map(({ name }) => name) ?? [];
  const chosen = agent || (names.find((name) => name === calls[0]?.agent) ?? names[0] ?? '');
  const answer = (call: WaitingCall, given: QuestionAnswer): void => {
    const next = new Map(answers).set(call.call, given);
    setAnswers(next);
    if (next.size < calls.length) return;
    const decisions = joinedDecisions(
      calls.flatMap((each) => {
        const said = next.get(each.call);
        return said === undefined ? [] : [decisionsFor(each, said)];
      }),
    );
    setBusy(true);
    setFailure(undefined);
    source
      .startRun(head, { kind: 'resume', agent: chosen, ...decisions }, crypto.randomUUID())
      .then((started) => {
        runs.set([started, ...runs.value.filter(({ id }) => id !== started.id)]);
        announce('Answered: the run goes on');
      })
      .catch((error: unknown) => {
        setFailure(asError(error));
        setAnswers(new Map());
      })
      .finally(() => setBusy(false));
  };
  return (
    <div className="banner" data-part="waiting">
      {!mayRun ? (
        <span className="dim">{whyNoRuns === '' ? 'This token may not answer.' : whyNoRuns}</span>
      ) : names.length > 1 ? (
        <label>
          <span className="label">goes on with</span>{' '}
          <select className="field" value={chosen} onChange={(event) => setAgent(event.target.value)}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      ) : null}
      {calls.map((call) => (
        <div key={call.call} className="question" role="group" aria-label="A question" data-part="question">
          <span className="color-person">☺</span>
          <PersonQuestion question={call} />
          {!mayRun || chosen === '' ? null : answers.has(call.call) ? (
            <span className="dim">answered</span>
          ) : (
            <PersonAnswers question={call} isBusy={isBusy} onAnswer={(given) => answer(call, given)} />
          )}
        </div>
      ))}
      {failure === undefined ? null : <Failure error={failure} />}
    </div>
  );
}
