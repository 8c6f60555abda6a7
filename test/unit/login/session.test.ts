// Tests of stored tokens: refresh by several processes, failures, a new sign-in and logout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { EndpointError } from '../../../login/authorization-server.ts';
import { withLock } from '../../../login/locked-file.ts';
import { Session } from '../../../login/session.ts';
import { TokenCache } from '../../../login/token-cache.ts';
import { rejection } from '../../support/rejection.ts';
import { scratchFolder } from '../../support/scratch.ts';

/** A server with rotation: a second use of a refresh token terminates the session. */
class RotatingServer {
  uses = 0;
  failure: Error | undefined;
  readonly revoked: (string | undefined)[] = [];

  async post(endpoint: string, form: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
    if (this.failure) throw this.failure;
    if (endpoint === 'revocation_endpoint') {
      this.revoked.push(form['token']);
      return {};
    }
    if (form['refresh_token'] !== `r${this.uses}`)
      throw new EndpointError(400, 'invalid_grant', 'used twice');
    this.uses++;
    return { access_token: `a${this.uses}`, refresh_token: `r${this.uses}`, expires_in: 100 };
  }
}

describe('the session of a user', () => {
  let folder: Awaited<ReturnType<typeof scratchFolder>>;
  let server: RotatingServer;
  let cache: TokenCache;
  let now: number;
  beforeEach(async () => {
    folder = await scratchFolder();
    cache = new TokenCache(join(folder.path, 'state', 'tokens.json'));
    server = new RotatingServer();
    now = 0;
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  /** The session as a further process has it. */
  const session = (): Session =>
    new Session({
      cache: new TokenCache(cache.file),
      clientID: 'kubectl',
      connect: () => Promise.resolve(server),
      now: () => now,
    });
  const signIn = (refreshToken = 'r0') =>
    session().replace({ accessToken: 'a0', refreshToken, refreshAt: 90_000 });

  it('is stored for the user only, and refreshed once by several processes, shortly before the access token expires', async () => {
    await signIn();
    expect((await stat(cache.file)).mode & 0o777).to.equal(0o600);
    expect((await stat(join(folder.path, 'state'))).mode & 0o777).to.equal(0o700);
    now = 89_999;
    expect(await session().tokens()).to.include({ accessToken: 'a0' });
    expect(server.uses).to.equal(0);
    now = 90_000;
    const found = await Promise.all(Array.from({ length: 8 }, () => session().tokens()));
    expect(new Set(found.map((tokens) => tokens?.accessToken))).to.deep.equal(new Set(['a1']));
    expect(server.uses).to.equal(1);
    now = 180_000;
    expect(await session().tokens()).to.deep.equal({
      accessToken: 'a2',
      refreshToken: 'r2',
      refreshAt: 270_000,
    });
  });

  it('keeps its tokens after a failure other than an invalid grant', async () => {
    await signIn();
    now = 90_000;
    const failures = [
      new Error('cannot connect'),
      new EndpointError(503, 'temporarily_unavailable', 'later'),
      new EndpointError(429, 'invalid_grant', 'too many attempts'),
    ];
    for (const failure of failures) {
      server.failure = failure;
      expect(await rejection(session().tokens())).to.equal(failure);
    }
    server.failure = undefined;
    expect(await session().tokens()).to.include({ accessToken: 'a1' });
  });

  it('has no tokens after the access token, if the client gets no refresh token', async () => {
    await signIn();
    await writeFile(cache.file, JSON.stringify({ accessToken: 'a0', refreshAt: 90_000 }));
    expect(await session().tokens()).to.include({ accessToken: 'a0' });
    now = 90_000;
    expect(await session().tokens()).to.equal(undefined);
  });

  it('is terminated by a new sign-in, also if the server is unreachable', async () => {
    await signIn();
    await signIn();
    expect(server.revoked).to.deep.equal(['r0']);
    server.failure = new Error('cannot connect');
    await signIn();
    expect(await session().tokens()).to.include({ accessToken: 'a0' });
  });

  it('is terminated by a logout, which keeps the tokens if the server is unreachable', async () => {
    await signIn();
    server.failure = new Error('cannot connect');
    expect(await rejection(session().end())).to.equal(server.failure);
    expect(await cache.read()).to.include({ refreshToken: 'r0' });
    server.failure = undefined;
    expect(await session().end()).to.equal(true);
    expect(server.revoked).to.deep.equal(['r0']);
    expect(await cache.read()).to.equal(undefined);
    expect(await session().end()).to.equal(false);
  });
});

describe('the lock of a file', () => {
  it('of a killed process is taken over by one process at a time, also after a failure', async () => {
    await using folder = await scratchFolder();
    const file = join(folder.path, 'tokens.json');
    await writeFile(`${file}.lock`, '');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${file}.lock`, longAgo, longAgo);
    let [holders, most] = [0, 0];
    const failure = new Error('failed');
    expect(await rejection(withLock(file, () => Promise.reject(failure)))).to.equal(failure);
    const work = async (): Promise<void> => {
      most = Math.max(most, ++holders);
      await readFile(`${file}.lock`);
      holders--;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(file, work)));
    expect(most).to.equal(1);
  });

  it('is held until the work is done, even after Ctrl-C', async () => {
    await using folder = await scratchFolder();
    const module = join(import.meta.dirname, '../../../login/locked-file.ts');
    const program = `
      import { once } from 'node:events';
      import { existsSync } from 'node:fs';
      import { withLock } from ${JSON.stringify(module)};
      const file = ${JSON.stringify(join(folder.path, 'tokens.json'))};
      // A signal handler does not keep the process alive.
      setTimeout(() => console.log('SIGINT is still ignored'), 60_000);
      await withLock(file, async () => {
        const received = once(process, 'SIGINT');
        process.kill(process.pid, 'SIGINT');
        await received;
      });
      console.log('done', existsSync(file + '.lock'));
      process.kill(process.pid, 'SIGINT');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(output).to.equal('done false\n');
    expect(signal).to.equal('SIGINT');
  });
});
