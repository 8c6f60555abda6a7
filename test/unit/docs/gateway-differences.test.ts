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
async function rowsOf(heading: string): Promise<(string | undefined)[]> {
  const text = await readFile(
    join(import.meta.dirname, '../../../docs/kube-apiserver-differences.md'),
    'utf8',
  );
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| (.+?) \|/gm)].map(([, title]) => title);
}

describe('the table of differences', () => {
  it('of the gateway has one row for each known difference', async () => {
    expect(await rowsOf('Gateway')).to.deep.equal(['subject', ...titlesOf(KNOWN_DIFFERENCES)]);
  });

  it('of cached reads has one row for each known difference of cached responses', async () => {
    expect(await rowsOf('Cached reads')).to.deep.equal([
      'subject',
      ...titlesOf(CACHED_DIFFERENCES),
      ...NORMALISED_DIFFERENCES,
    ]);
  });
});
