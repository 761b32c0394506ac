import { spawn } from 'node:child_process';
import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import type { CheckedBranch } from '../../engine/resuming/experiment-result.ts';

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
 * Creates a check that runs a shell command: exit code 0 is a pass, any other a failure. The command gets the result on
 * stdin and the branch in its environment, so that `reprise` commands in it use the same store.
 */
export function commandCheck(
  command: string,
  { store, namespace, msMax = limits.checkMsMax }: CheckPlace,
): (branch: CheckedBranch) => Promise<boolean> {
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
    const { code, said } = await run(command, { env, msMax, text });
    if (!notRunnable.has(code)) return code === 0;
    throw new RepriseError('experiment.invalid', `Cannot run the check ${JSON.stringify(command)}: ${said.trim()}`, {
      hint: 'Use a command that works in a shell in this directory.',
    });
  };
}

const saidMax = 1_000;

function run(
  command: string,
  { env, msMax, text }: { readonly env: NodeJS.ProcessEnv; readonly msMax: number; readonly text: string },
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, env, timeout: msMax, stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      if (said.length < saidMax) said += piece;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, said: said.slice(0, saidMax) }));
    // A check that does not read its input may be gone before it is written.
    child.stdin.on('error', () => undefined).end(text);
  });
}
