/** How many random histories a simulation goes through, so that `npm test` stays short; `npm run soak` goes through more. */
const runs = Number(process.env['REPRISE_RUNS'] ?? 20);

/** Returns how many histories to go through; a share of them where each takes long. */
export function runCount(share = 1): number {
  return Math.ceil(runs * share);
}
