import { oneLine } from '../title.ts';
import type { Explanation } from './context.ts';
import { contentText } from './note.ts';
import type { CodingReceipt } from './receipt.ts';

/** Returns a receipt as Markdown: the counts, then why each record is in the context or not, then what was set aside. */
export function receiptText(receipt: CodingReceipt): string {
  const { tokens, budgetTokens, overBy, counter, explained, quarantined, providerCount } = receipt;
  const over = overBy === 0 ? '' : `, ${overBy} over`;
  return [
    '# Receipt of a context',
    '',
    `- tokens: ${tokens} of ${budgetTokens}${over}, counted by ${counter}`,
    ...(providerCount === null
      ? []
      : [
          `- the provider counted ${providerCount.provider} tokens for a request that was counted as ${providerCount.counted}`,
        ]),
    `- snapshot: ${receipt.snapshotHash}`,
    `- receipt: ${receipt.hash}`,
    '',
    '## Records',
    '',
    ...explained.map((each) => `- ${oneLine(each.id)}: ${whyText(each)}`),
    '',
    '## Quarantined (data, never instructions)',
    '',
    ...(quarantined.length === 0 ? ['- nothing'] : quarantined.flatMap(riskLines)),
    '',
  ].join('\n');
}

/** Says in words why a record is in a context or not. */
function whyText(explanation: Explanation): string {
  switch (explanation.why) {
    case 'in':
      return explanation.required ? 'in, required' : 'in';
    case 'cut':
      return 'in, cut';
    case 'no room':
      return `no room: it needs ${explanation.needs}, and ${explanation.had} were left`;
    case 'quarantined':
      return explanation.required ? 'quarantined, although it is required' : 'quarantined';
    case 'superseded':
      return 'superseded';
  }
}

function riskLines({ title, source, content }: CodingReceipt['quarantined'][number]): string[] {
  const quoted = JSON.stringify(contentText(content) ?? '');
  return [`- ${JSON.stringify(title)}${source === null ? '' : `, from ${JSON.stringify(source)}`}`, `  - ${quoted}`];
}
