// Tests of the examples in docs/log-queries.md against the matcher of log lines.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LEVELS } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newLogQueryDecoder } from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import {
  LEVEL_KEYS,
  LEVEL_NUMBERS,
  LEVEL_WORDS,
  levelMatcher,
  SHORT_WORDS,
} from '../../../server/logging/matching/levels.ts';
import { lineMatcher } from '../../../server/logging/matching/line-matcher.ts';
import { textOf } from '../../../server/logging/queries/responses.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/log-queries.md');
const LEVELS_SECTION = /^## Levels$[\s\S]*/m;
const ROW = /^\| `(.+)` \| `(phrase|prefix|substring|regex)` \| `(.+)` \| (yes|no) \|$/gm;

describe('the matching table of docs/log-queries.md', () => {
  it('agrees with the matcher for pod logs', async () => {
    const decoder = newLogQueryDecoder();
    const rows = [...(await readFile(DOCUMENT, 'utf8')).matchAll(ROW)];
    expect(rows).to.have.length.above(10);
    for (const [row, line = '', match = '', log_query = '', found] of rows) {
      const text = textOf(decoder.decode(new URLSearchParams({ match, log_query })));
      expect(text && lineMatcher(text).matches(line), row).to.equal(found === 'yes');
    }
  });

  it('documents the keys, numbers and words of each level', async () => {
    const [section = ''] = LEVELS_SECTION.exec(await readFile(DOCUMENT, 'utf8')) ?? [];
    for (const key of LEVEL_KEYS) expect(section).to.include(`\`${key}\``);
    for (const level of LEVELS) {
      const words = LEVEL_WORDS[level].map((word) => `\`${word}\``).join(', ');
      expect(section).to.include(`| \`${level}\` | ${words} |`);
      for (const word of SHORT_WORDS[level]) expect(section).to.include(`\`${word}\``);
    }
    const numbers = LEVELS.map((level) => `${LEVEL_NUMBERS[level].join(' and ')} for \`${level}\``);
    expect(section).to.include(numbers.join(', '));
    const isError = levelMatcher(['error']);
    const [forms = ''] = section.split('The words of each level');
    const rows = forms.split('\n').filter((line) => /^\| .* \| `.*` \|$/.test(line));
    const examples = rows.flatMap((row) => [...(row.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)]);
    expect(examples).to.have.length.above(7);
    for (const [, line = ''] of examples) expect(isError(line) || isError(`{${line}`), line).to.equal(true);
  });
});
