import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Session } from '../../engine/session.ts';

/** Opens the user's editor on the data of the event at a point, and returns the edit they made. */
export async function editedEvent(session: Session, point: string): Promise<Edit> {
  const { seq } = await session.at(point).locate();
  const event = await eventAt(session, point, seq);
  const before = `${JSON.stringify(event.data, null, 2)}\n`;
  // Include the type: an earlier edit may have replaced the event with one of a different type.
  return { kind: 'replace', seq, event: { type: event.type, version: event.version, data: inEditor(before) } };
}

async function eventAt(session: Session, point: string, seq: number): Promise<Event> {
  for await (const event of session.at(point).replay({ history: 'view', after: seq - 1, through: seq }))
    if (event.erased !== true) return event;
  throw new RepriseError('event.not-in-view', `Cannot edit the event at "${point}": it is not in the view`, {
    hint: 'Choose an event that "reprise replay" shows.',
  });
}

/** Opens the user's editor on a string and returns the result. A result that cannot be used is kept in its file. */
function inEditor(before: string): JsonObject {
  const command = process.env['VISUAL']?.trim() || process.env['EDITOR']?.trim() || 'vi';
  const directory = mkdtempSync(join(tmpdir(), 'reprise-edit-'));
  const file = join(directory, 'event.json');
  writeFileSync(file, before);
  // Keep the editor's screen out of a script that reads our stdout.
  const stdout = process.stdout.isTTY ? 'inherit' : 2;
  const { status } = spawnSync('/bin/sh', ['-c', `${command} "$1"`, 'reprise', file], {
    stdio: ['inherit', stdout, 'inherit'],
  });
  const after = readFileSync(file, 'utf8');
  if (status === 0 && after !== before) {
    const data = parsed(after, file);
    rmSync(directory, { recursive: true, force: true });
    return data;
  }
  rmSync(directory, { recursive: true, force: true });
  const why = status === 0 ? 'nothing was changed in the editor' : `the editor ${JSON.stringify(command)} failed`;
  throw new RepriseError('edit.invalid', `Cannot edit: ${why}`, {
    hint:
      status === 0 ? 'Nothing was forked or edited.' : 'Nothing was forked or edited. Set EDITOR to a working editor.',
  });
}

function parsed(text: string, file: string): JsonObject {
  let why = 'it is not a JSON object';
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch (error) {
    why = (error as Error).message;
  }
  throw new RepriseError('edit.invalid', `Cannot use the text from the editor: ${why}`, {
    hint: `It is saved in ${file}: correct it and pass it with --replace SEQ=FILE.`,
  });
}
