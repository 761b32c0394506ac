/** Whether this is `npm run test:all`, which also goes through the cases that take too long for every change. */
const isAll = process.env['REPRISE_TESTS'] === 'all';

/** Returns how many rounds, or which cases, a test goes through: a few with `npm test`, all with `npm run test:all`. */
export function fewOrAll<Amount>(few: Amount, all: Amount): Amount {
  return isAll ? all : few;
}
