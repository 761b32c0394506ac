import { useState } from 'react';
import { short } from '../../../src/wording/event-gist.ts';
import { useStudio } from '../frame/studio.ts';
import { announce } from '../parts/announcer.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { asError } from '../parts/use-answer.ts';
import type { QuestionAnswer, RunQuestion, StudioRun, WaitingCall } from '../source/answers.ts';

/** The questions of a run that wait: each is answered once, by the first person who answers. */
export function Questions({ run }: { readonly run: StudioRun }): React.ReactNode {
  const open = run.questions.filter(({ answer }) => answer === null);
  return open.map((question) => <Question key={question.id} run={run} question={question} />);
}

function Question({ run, question }: { readonly run: StudioRun; readonly question: RunQuestion }): React.ReactNode {
  const { source, rights } = useStudio();
  const [isBusy, setBusy] = useState(false);
  const answer = (given: QuestionAnswer): void => {
    setBusy(true);
    source
      .answer(run.id, question.id, given)
      .then(({ accepted }) => announce(accepted ? 'Answered' : 'It was answered before'))
      .catch((error: unknown) => announce(asError(error).message))
      .finally(() => setBusy(false));
  };
  return (
    <div className="question" role="group" aria-label="A question" data-part="question">
      <span className="color-person">☺</span>
      {question.kind === 'effect' ? (
        <EffectQuestion question={question} />
      ) : (
        <PersonQuestion question={question.question} />
      )}
      {!rights.value.run ? null : question.kind === 'effect' ? (
        <span className="question-answers">
          {question.question.outcome === undefined ? null : (
            <AnswerButton label="Reuse" isBusy={isBusy} onAnswer={() => answer({ kind: 'effect', answer: 'reuse' })} />
          )}
          {question.canSimulate ? (
            <AnswerButton label="Simulate" isBusy={isBusy} onAnswer={() => answer({ kind: 'simulate' })} />
          ) : null}
          <AnswerButton label="Run" isBusy={isBusy} onAnswer={() => answer({ kind: 'effect', answer: 'run' })} />
          <AnswerButton label="Refuse" isBusy={isBusy} onAnswer={() => answer({ kind: 'effect', answer: 'refuse' })} />
        </span>
      ) : (
        <PersonAnswers question={question.question} isBusy={isBusy} onAnswer={answer} />
      )}
    </div>
  );
}

function AnswerButton({
  label,
  isBusy,
  onAnswer,
}: {
  readonly label: string;
  readonly isBusy: boolean;
  readonly onAnswer: () => void;
}): React.ReactNode {
  return (
    <button type="button" className="button" disabled={isBusy} onClick={onAnswer}>
      {label}
    </button>
  );
}

function EffectQuestion({
  question: { question },
}: {
  readonly question: Extract<RunQuestion, { kind: 'effect' }>;
}): React.ReactNode {
  return (
    <span className="question-words">
      May it call <strong>{question.name}</strong>(<RecordedText text={short(question.input)} />
      )? This is {question.effect}
      {question.earlier === undefined ? '' : `. It was made before, at ${question.earlier}`}
      {question.outcome === undefined
        ? question.earlier === undefined
          ? ''
          : ', and nobody knows how it ended'
        : `, and ended ${question.outcome}`}
      .
    </span>
  );
}

/** A question to a person, in words. */
export function PersonQuestion({ question }: { readonly question: WaitingCall }): React.ReactNode {
  return (
    <span className="question-words">
      {question.agent ?? 'The agent'} {question.name === 'approval' ? 'asks for approval' : 'asks'}:{' '}
      <RecordedText text={short(question.input)} />
    </span>
  );
}

/** The answers that a person can give to a question. */
export function PersonAnswers({
  question,
  isBusy,
  onAnswer,
}: {
  readonly question: WaitingCall;
  readonly isBusy: boolean;
  readonly onAnswer: (answer: QuestionAnswer) => void;
}): React.ReactNode {
  return question.name === 'approval' ? (
    <span className="question-answers">
      <AnswerButton label="Approve" isBusy={isBusy} onAnswer={() => onAnswer({ kind: 'approve' })} />
      <AnswerButton label="Deny" isBusy={isBusy} onAnswer={() => onAnswer({ kind: 'deny' })} />
    </span>
  ) : (
    <AnswerField isBusy={isBusy} onAnswer={(output) => onAnswer({ kind: 'answer', output })} />
  );
}

function AnswerField({
  isBusy,
  onAnswer,
}: {
  readonly isBusy: boolean;
  readonly onAnswer: (text: string) => void;
}): React.ReactNode {
  const [text, setText] = useState('');
  return (
    <form
      className="question-answers"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(text);
      }}
    >
      <input
        className="field"
        aria-label="Your answer"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button" disabled={isBusy || text === ''}>
        Answer
      </button>
    </form>
  );
}
