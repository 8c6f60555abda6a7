// Test that docs/gateway.md lists exactly the differences that test/e2e/gateway/differences.ts accepts.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KNOWN_DIFFERENCES } from '../../e2e/gateway/known-differences.ts';

describe('the table of differences in docs/gateway.md', () => {
  it('has one row for each known difference', async () => {
    const text = await readFile(join(import.meta.dirname, '../../../docs/gateway.md'), 'utf8');
    const section = text.split('\n## What differs\n')[1]?.split('\n## ')[0] ?? '';
    const rows = [...section.matchAll(/^\| (.+?) \|/gm)].map(([, title]) => title);
    expect(rows).to.deep.equal(['subject', ...KNOWN_DIFFERENCES.map(({ title }) => title)]);
  });
});
