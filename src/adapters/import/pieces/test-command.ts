import type { EventDraft } from '../../../core/event/event.ts';

const runners =
  /(?:^|[\s;&|(/])(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test\S*|npx\s+(?:vitest|jest|mocha|playwright\s+test)|vitest|jest|mocha|pytest|python3?\s+-m\s+(?:pytest|unittest)|go\s+test|cargo\s+(?:nextest|test)|mvn\s+(?:\S+\s+)*test|(?:\.\/)?gradlew?\s+(?:\S+\s+)*test|rspec|phpunit|mix\s+test|dotnet\s+test|make\s+(?:check|test)\S*|deno\s+test|ctest|tox|nox)(?=$|[\s;&|)])/;

/** Returns the event of a command that runs tests; none if it runs none, or it is unknown how it ended. */
export function testsRan(command: string | undefined, exitCode: number | undefined, call: string): EventDraft[] {
  if (command === undefined || exitCode === undefined || !runners.test(command)) return [];
  return [{ type: 'tests.ran', data: { command, exitCode, call } }];
}
