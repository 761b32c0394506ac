import { FileRebuild, type PatchedFile } from '../../core/coding/patched-file.ts';
import { type Project, projectPath } from '../../core/coding/project-path.ts';
import { RepriseError } from '../../core/error.ts';
import { stringAt } from '../../core/json.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { eventsOf, sightAt } from '../history/sight.ts';

/**
 * Rebuilds the files that were patched up to a place, in the order of their first patch; with `paths`, those alone. Each
 * is built from the nearest recorded content, strictly.
 */
export async function filesAt(
  engine: Engine,
  place: Place,
  paths: readonly string[] | undefined,
): Promise<readonly PatchedFile[]> {
  if (paths?.some((path) => typeof path !== 'string') === true)
    throw new RepriseError('option.invalid', 'Cannot rebuild files: "paths" has something that is not a string', {
      hint: 'Pass a list of paths.',
    });
  const project: Project | undefined = engine.platform.project?.();
  const wanted = paths === undefined ? undefined : new Set(paths.map((path) => projectPath(path, project)));
  const files = new Map<string, FileRebuild>();
  const sight = sightAt(engine, place);
  for await (const { events } of eventsOf(sight, sight.view, { filter: { types: ['file.patched'] } })) {
    for (const event of events) {
      const path = stringAt(event.data, 'path');
      if (event.type !== 'file.patched' || path === undefined || wanted?.has(path) === false) continue;
      const file = files.get(path) ?? new FileRebuild(path);
      files.set(path, file);
      file.apply(event);
    }
  }
  return [...files.values()].map((file) => file.finish());
}
