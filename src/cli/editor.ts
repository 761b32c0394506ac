import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '../core/canonical-json.ts';
import type { Edit } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { JsonObject } from '../core/json.ts';
import type { Session } from '../engine/session.ts';

/** Opens the person's editor on the data of the event at a point, and gives the edit they made. */
export async function editedEvent(session: Session, point: string): Promise<Edit> {
  const { seq } = await session.locate(point);
  let data: JsonObject | undefined;
  for await (const event of session.replay({ at: point, direction: 'backward', limit: 1 })) data = event.seq === seq ? event.data : undefined;
  if (data === undefined) throw new RepriseError('event.not-in-view', `Cannot edit the event at "${point}": there is none in the view`, { hint: 'Choose a point whose event is in the view.' });
  const before = `${JSON.stringify(data, null, 2)}\n`;
  const after = inEditor(before);
  if (after === before) throw new RepriseError('edit.invalid', 'Cannot edit: nothing was changed in the editor');
  return { kind: 'replace', seq, event: { data: parseJson(after) as JsonObject } };
}

function inEditor(text: string): string {
  const command = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi';
  const directory = mkdtempSync(join(tmpdir(), 'reprise-edit-'));
  const file = join(directory, 'event.json');
  try {
    writeFileSync(file, text);
    const { status, error } = spawnSync("/bin/sh", ["-c", `${command} "$1"`, "reprise", file], { stdio: "inherit" });
    if (error !== undefined || status !== 0) throw new RepriseError('edit.invalid', `Cannot edit: the editor ${JSON.stringify(command)} did not end well`, { hint: 'Set EDITOR to one that does.', ...(error === undefined ? {} : { cause: error }) });
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
