// Tests of the use of configuration options: the source code of the server reads every option.
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { optionRows } from '../../../../apis/config/v1alpha1/option-table.ts';

const SERVER = join(import.meta.dirname, '../../../../server');

describe('the options of the configuration', () => {
  it('are all read by the server', async () => {
    let source = '';
    for await (const file of glob('**/*.ts', { cwd: SERVER }))
      source += await readFile(join(SERVER, file), 'utf8');
    const words = new Set(source.match(/\w+/g));
    const options = optionRows().flatMap(({ path }) => (path.includes('.') ? [path] : []));
    const unread = options.filter((path) => path.match(/\w+/g)?.some((part) => !words.has(part)));
    expect(options).not.to.have.length(0);
    expect(unread).to.deep.equal([]);
  });
});
