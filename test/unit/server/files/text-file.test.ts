// Tests of the readers of files that options name.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeFileError } from '../../../../server/files/file-error.ts';
import { readCAFile, readFileOrPipe, readTextFile } from '../../../../server/files/text-file.ts';
import { newCA } from '../../../support/certificates.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('the files of options', () => {
  const dir = scratchFolderEach();

  it('are not pipes: opening one without a writer would never end', async () => {
    const pipe = join(dir(), 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    expect(describeFileError(await rejection(readTextFile(pipe)))).to.equal('it is a pipe');
    expect(describeFileError(await rejection(readTextFile(dir())))).to.equal('it is a directory');
    expect(describeFileError(await rejection(readTextFile(join(dir(), 'x'))))).to.equal('no such file');
  });

  it('can be pipes with a writer if flags name them', async () => {
    const pipe = join(dir(), 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    expect(() => readFileOrPipe(pipe, 0)).to.throw(`${pipe}: it is a pipe to which no program writes`);
    const end = openSync(pipe, 'r+');
    const writer = spawn('sh', ['-c', 'for i in 1 2; do "$0" -e 0; echo text; done', process.execPath], {
      stdio: ['ignore', end, 'inherit'],
    });
    closeSync(end);
    expect(readFileOrPipe(pipe, 0)).to.deep.equal({ text: 'text\ntext\n', isPipe: true });
    await once(writer, 'exit');
  });

  it('contain a certificate if they are CA bundles', async () => {
    const file = join(dir(), 'ca.crt');
    const { cert, key } = await newCA('ca');
    await writeFile(file, key);
    expect(await rejection(readCAFile(file))).to.have.property(
      'message',
      `${file}: it contains no certificate`,
    );
    for (const label of ['CERTIFICATE', 'TRUSTED CERTIFICATE']) {
      await writeFile(file, `${key}${cert.replaceAll('CERTIFICATE', label)}`);
      expect(await readCAFile(file)).to.include(`BEGIN ${label}`);
    }
  });
});
