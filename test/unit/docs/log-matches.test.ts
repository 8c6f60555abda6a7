import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { lineMatcher } from '../../../server/logging/matching/line-matcher.ts';
import { textOf } from '../../../server/logging/selection.ts';
import { textFaults } from '../../../server/logging/text-faults.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/logs.md');
const ROW = /^\| `(.+)` \| `(phrase|prefix|substring|regex)` \| `(.+)` \| (yes|no) \|$/gm;

describe('what docs/logs.md says of what matches', () => {
  it('is what matches', async () => {
    const decoder = newLogQueryDecoder(textFaults);
    const rows = [...(await readFile(DOCUMENT, 'utf8')).matchAll(ROW)];
    expect(rows).to.have.length.above(20);
    for (const [row, line = '', match = '', log_query = '', found] of rows) {
      const text = textOf(decoder.decode(new URLSearchParams({ match, log_query })));
      expect(text && lineMatcher(text).matches(line), row).to.equal(found === 'yes');
    }
  });
});
