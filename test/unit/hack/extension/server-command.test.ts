// Tests of the command line of the server in development, against the container image.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { serverCommand } from '../../../../hack/extension/server-command.ts';

const ROOT = join(import.meta.dirname, '../../../..');

describe('the command of the server', () => {
  it('is the same in the image', async () => {
    const image = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const { args, env } = serverCommand('');
    const entrypoint: unknown = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(image)?.[1] ?? '');
    expect(entrypoint).to.deep.equal(['node', ...args]);
    // The compile cache is valid only for the same options of Node.
    const filling: unknown = JSON.parse(/^RUN (\[.*)$/m.exec(image)?.[1] ?? '');
    expect(filling).to.deep.equal(['node', '--predictable', '--random-seed=1', ...args, '--version']);
    expect(image.indexOf('USER 1000')).to.be.within(0, image.indexOf('RUN ['));
    const variables = /^ENV (.*)$/m.exec(image)?.[1]?.split(' ');
    expect(variables).to.include.members(Object.entries(env).map(([name, value]) => `${name}=${value}`));
  });
});
