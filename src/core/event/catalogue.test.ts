import { describe, expect, test } from 'vitest';
import { completionOf, eventTypes, isInGroup, specOf } from './catalogue.ts';

describe('the catalogue', () => {
  test('names only types that it has', () => {
    const named = Object.values(eventTypes).flatMap(({ completes, goesWith = [] }) => [...goesWith, completes ?? []]);
    expect(named.flat().filter((type) => specOf(type) === undefined)).toEqual([]);
  });

  test('has the version of its last field, or a later one, and adds only optional fields', () => {
    for (const [type, { version, fields }] of Object.entries(eventTypes)) {
      for (const [name, { since, required }] of Object.entries(fields)) {
        expect({ type, name, isDeclared: since <= version }).toEqual({ type, name, isDeclared: true });
        expect({ type, name, isLate: since > 1 && required }).toEqual({ type, name, isLate: false });
      }
    }
  });

  test('knows what goes with what', () => {
    expect(completionOf('call.started')).toBe('call.ended');
    expect(completionOf('call.ended')).toBeUndefined();
    expect(Object.keys(eventTypes).filter((type) => isInGroup(type, 'beliefs'))).toEqual([
      'belief.committed',
      'belief.superseded',
      'contradiction.detected',
      'contradiction.settled',
    ]);
  });
});
