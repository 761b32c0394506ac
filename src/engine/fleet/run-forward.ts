import { RepriseError } from '../../core/error.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from './fleet-look.ts';
import type { FleetVerbs } from './fleet-verbs.ts';
import type { Judge } from './judge.ts';
import type { ForwardOptions, ForwardResult } from './run-forward-options.ts';

/** placeholder */
export async function runForward<Result>(
  _engine: Engine,
  _on: OnBranch,
  _options: ForwardOptions<Result>,
  _with: { readonly judge: Judge; readonly fleet: FleetVerbs },
): Promise<ForwardResult<Result>> {
  throw new RepriseError('option.invalid', 'Cannot run forward');
}
