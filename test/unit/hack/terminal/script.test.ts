// Tests of the main function of the development tools.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const START = join(import.meta.dirname, '../../../../hack/start.ts');

describe('a development tool', () => {
  it('prints no stack trace if the reader of its help has exited', async () => {
    const command = `"${process.execPath}" "${START}" --help | true`;
    const { stderr } = await promisify(execFile)('sh', ['-c', command]);
    expect(stderr).to.equal('');
  });
});
