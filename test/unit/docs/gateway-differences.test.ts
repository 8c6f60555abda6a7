// Tests that the documentation lists exactly the differences that test/e2e/gateway/differences.test.ts accepts.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CACHED_DIFFERENCES,
  KNOWN_DIFFERENCES,
  NORMALISED_DIFFERENCES,
} from '../../e2e/gateway/known-differences.ts';

const titlesOf = (differences: readonly { readonly title: string }[]): string[] =>
  differences.map(({ title }) => title);

/** The first cells of the table in a section. */
async function rowsOf(page: string, heading: string): Promise<(string | undefined)[]> {
  const text = await readFile(join(import.meta.dirname, '../../../docs', page), 'utf8');
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| (.+?) \|/gm)].map(([, title]) => title);
}

describe('the table of differences', () => {
  it('in docs/gateway.md has one row for each known difference', async () => {
    expect(await rowsOf('gateway.md', 'What differs')).to.deep.equal([
      'subject',
      ...titlesOf(KNOWN_DIFFERENCES),
    ]);
  });

  it('in docs/acceleration.md has one row for each known difference of cached responses', async () => {
    expect(await rowsOf('acceleration.md', 'Differences')).to.deep.equal([
      'subject',
      ...titlesOf(CACHED_DIFFERENCES),
      ...NORMALISED_DIFFERENCES,
    ]);
  });
});
