import { RepriseError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { Judge } from '../../engine/experimenting/experiment-options.ts';
import type { Context } from '../context.ts';

/** Returns the judge of the configuration that `--judge` names; undefined if it names none. */
export async function configuredJudge(context: Context, name: string | undefined): Promise<Judge | undefined> {
  if (name === undefined) return undefined;
  const judges = (await context.config())?.config.judges ?? {};
  // The configuration checks that it is a function; only its author knows what it takes.
  if (Object.hasOwn(judges, name)) return judges[name] as unknown as Judge;
  const names = Object.keys(judges);
  const near = nearest(name, names);
  throw new RepriseError('option.invalid', `Cannot find the judge "${name}": reprise.config does not name it`, {
    hint:
      near === undefined
        ? `The judges are ${names.join(', ') || 'none'}. Add judges: { ${name}: (branch, { recorder }) => … } to it.`
        : `Did you mean "${near}"?`,
  });
}
