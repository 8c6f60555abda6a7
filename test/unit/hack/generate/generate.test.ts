// Tests of `npm run generate`.
import { join } from 'node:path';
import { expect } from 'chai';
import { generatedFiles } from '../../../../hack/generate/files.ts';
import { namesFor } from '../../../../hack/generate/names.ts';

const ROOT = join(import.meta.dirname, '../../../..');

describe('generating', () => {
  it('writes each file once', async () => {
    const paths = (await generatedFiles(ROOT, namesFor('other'))).map(({ path }) => path);
    expect(paths).to.deep.equal([...new Set(paths)]);
  });
});
