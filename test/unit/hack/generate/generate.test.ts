// Tests of `npm run generate`.
import { join } from 'node:path';
import { expect } from 'chai';
import { generatedFiles } from '../../../../hack/generate/files.ts';
import { isStale } from '../../../../hack/generate/generated-file.ts';
import { namesFor, readPlatform } from '../../../../hack/generate/names.ts';

const ROOT = join(import.meta.dirname, '../../../..');

describe('generating', () => {
  it('changes nothing in the repository', async () => {
    const platform = await readPlatform(join(ROOT, 'manifests/names.json'));
    const stale: string[] = [];
    for (const file of await generatedFiles(ROOT, namesFor(platform)))
      if (await isStale(file)) stale.push(file.path);
    expect(stale, 'update them with: npm run generate').to.deep.equal([]);
  });

  it('writes each file once', async () => {
    const paths = (await generatedFiles(ROOT, namesFor('other'))).map(({ path }) => path);
    expect(paths).to.deep.equal([...new Set(paths)]);
  });
});
