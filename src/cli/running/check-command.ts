import { spawn } from 'node:child_process';
import { parseJson } from '../../core/canonical-json.ts';
import { type CheckAnswer, checkedFrom } from '../../core/comparing/check-answer.ts';
import { RepriseError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { CheckedBranch } from '../../engine/experimenting/experiment-result.ts';

/** The store of a checked branch, for the command that checks it. */
export interface CheckPlace {
  readonly store: string;
  readonly namespace: string;
  /** How long the command may take. */
  readonly msMax?: number;
}

// The exit codes of a shell that cannot run a command, or cannot find it.
const notRunnable: ReadonlySet<number | null> = new Set([126, 127]);

/**
 * Creates a check that runs a shell command: exit code 0 is a pass, any other a failure. A JSON object on its stdout gives
 * scores: `{ "brief": 1 }` or `{ "passed": true, "reason": "…", "scores": { … } }`. The command gets the result on stdin
 * and the branch in its environment, so that `reprise` commands in it use the same store.
 */
export function commandCheck(
  command: string,
  { store, namespace, msMax = limits.checkMsMax }: CheckPlace,
): (branch: CheckedBranch) => Promise<CheckAnswer> {
  return async ({ session, branch, ref, variant, repeat, outcome, text }) => {
    const env = {
      ...process.env,
      REPRISE_STORE: store,
      REPRISE_NAMESPACE: namespace,
      REPRISE_SESSION: session,
      REPRISE_BRANCH: branch,
      REPRISE_REF: ref,
      REPRISE_VARIANT: variant,
      REPRISE_REPEAT: String(repeat),
      REPRISE_OUTCOME: outcome,
    };
    const { code, said, printed } = await run(command, { env, msMax, text });
    if (!notRunnable.has(code)) return answerOf(code === 0, printed);
    throw new RepriseError('experiment.invalid', `Cannot run the check ${JSON.stringify(command)}: ${said.trim()}`, {
      hint: 'Use a command that works in a shell in this directory.',
    });
  };
}

/** Reads what a command said: its exit code, and an object that it printed. A command that fails has not passed. */
function answerOf(isPass: boolean, printed: string): CheckAnswer {
  if (!/^\s*\{/.test(printed)) return isPass;
  let held: unknown;
  try {
    held = parseJson(printed);
  } catch {
    return isPass;
  }
  if (isPass) return held as CheckAnswer;
  const { scores, reason } =
    isObject(held) && 'passed' in held ? checkedFrom(held) : { scores: checkedFrom(held).scores, reason: null };
  return { passed: false, scores, ...(reason === null ? {} : { reason }) };
}

const saidMax = 1_000;
const printedMax = 65_536;

function run(
  command: string,
  { env, msMax, text }: { readonly env: NodeJS.ProcessEnv; readonly msMax: number; readonly text: string },
): Promise<{ readonly code: number | null; readonly said: string; readonly printed: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, env, timeout: msMax, stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      if (printed.length < printedMax) printed += piece;
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      if (said.length < saidMax) said += piece;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, said: said.slice(0, saidMax), printed }));
    // A check that does not read its input may be gone before it is written.
    child.stdin.on('error', () => undefined).end(text);
  });
}
