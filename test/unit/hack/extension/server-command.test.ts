// Tests of the command line of the server in development, against the container image.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { serverCommand } from '../../../../hack/extension/server-command.ts';

const ROOT = join(import.meta.dirname, '../../../..');

describe('the command of the server', () => {
  it('is the same in the image', async () => {
    const image = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const program = await readFile(join(ROOT, 'hack/image/ks-apiserver'), 'utf8');
    expect(image).to.match(/^ENTRYPOINT \["ks-apiserver"\]$/m);
    const { args, env } = serverCommand('/app');
    expect(program).to.include(`\nexec node ${args.join(' ')} "$@"\n`);
    // The compile cache is valid only for the same options of Node.
    const filling: unknown = JSON.parse(/^RUN (\[.*)$/m.exec(image)?.[1] ?? '');
    const options = args.slice(0, -1);
    expect(filling).to.deep.equal([
      'node',
      ...['--predictable', '--random-seed=1', ...options],
      ...['fill-compile-cache.ts', 'version'],
    ]);
    expect(image.indexOf('USER 1000')).to.be.within(0, image.indexOf('RUN ['));
    const variables = /^ENV (.*)$/m.exec(image)?.[1]?.split(' ');
    expect(variables).to.include.members(Object.entries(env).map(([name, value]) => `${name}=${value}`));
  });
});
