import { RepriseError } from '../../core/error.ts';

/** Refuses to follow a look, which a caller without types may ask for: nothing is ever appended to it. */
export function refuseFollow(options: unknown, verb: string): void {
  if (typeof options !== 'object' || options === null || !('follow' in options) || options.follow !== true) return;
  throw new RepriseError('option.invalid', `Cannot follow a look with ${verb}(): it stays at its place`, {
    hint: `Follow a branch: session.branch(name).${verb}({ follow: true }).`,
  });
}
