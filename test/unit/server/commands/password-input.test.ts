// Tests of the password input from a terminal, a pipe or a file.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { InterruptedError, readPassword } from '../../../../server/commands/password-input.ts';
import { rejection } from '../../../support/rejection.ts';

class Terminal extends Readable {
  readonly isTTY = true;
  readonly modes: boolean[] = [];

  constructor(...typed: readonly (string | Buffer)[]) {
    super();
    for (const keys of typed) this.push(keys);
    this.push(null);
  }

  setRawMode(raw: boolean): void {
    this.modes.push(raw);
  }
}

describe('a password', () => {
  let shown: string;
  const ask = (...typed: readonly (string | Buffer)[]): { terminal: Terminal; answer: Promise<string> } => {
    const terminal = new Terminal(...typed);
    shown = '';
    return { terminal, answer: readPassword(terminal, (text) => void (shown += text)) };
  };

  it('is prompted for twice on a terminal, without echo', async () => {
    const { terminal, answer } = ask('secret', ' word\r', 'secret word\r');
    expect(await answer).to.equal('secret word');
    expect(shown).to.equal('New password: \nRepeat new password: \n');
    expect(terminal.modes).to.deep.equal([true, false]);
  });

  it('may contain any characters, also split across chunks', async () => {
    const bytes = Buffer.from('pässwörd 🐎\rpässwörd 🐎\r');
    const pieces = Array.from(bytes, (byte) => Buffer.of(byte));
    expect(await ask(...pieces).answer).to.equal('pässwörd 🐎');
  });

  it('is rejected if the two inputs differ', async () => {
    expect(await rejection(ask('one\r', 'other\r').answer)).to.have.property(
      'message',
      'the two passwords differ',
    );
  });

  it('is not read after Ctrl-C or end of input; the terminal is restored', async () => {
    const { terminal, answer } = ask('secret\u0003');
    expect(await rejection(answer)).to.be.instanceOf(InterruptedError);
    expect(terminal.modes).to.deep.equal([true, false]);
    expect(await rejection(ask('\u0004').answer)).to.have.property('message', 'no password was given');
    expect(await rejection(ask().answer)).to.have.property('message', 'no password was given');
  });

  it('is the whole standard input without the last line end, if it is not a terminal', async () => {
    const silent = (): void => undefined;
    expect(await readPassword(Readable.from(['sec', 'ret\n']), silent)).to.equal('secret');
    expect(await readPassword(Readable.from(['secret']), silent)).to.equal('secret');
    expect(await readPassword(Readable.from([' secret \r\n']), silent)).to.equal(' secret ');
    // As with kubectl exec without -i.
    expect(await rejection(readPassword(Readable.from([]), silent)))
      .to.have.property('message')
      .that.includes('kubectl exec -it');
  });
});
