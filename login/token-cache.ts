// TokenCache: the stored tokens of one sign-in, readable by the user only.

import { createHash } from 'node:crypto';
import { chmod, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf } from '../apis/reading/thrown-value.ts';
import type { Target } from './arguments.ts';
import { replaceFile, withLock } from './locked-file.ts';
import { storedTokens, type Tokens } from './tokens.ts';

export class TokenCache {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** The cache of a target, under XDG_STATE_HOME. */
  static of({ server, context, clientID }: Target, env: NodeJS.ProcessEnv): TokenCache {
    const name = createHash('sha256')
      .update(JSON.stringify([server, context, clientID]))
      .digest('hex');
    const state = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local/state');
    return new TokenCache(join(state, 'ks-login', `${name.slice(0, 32)}.json`));
  }

  /** Undefined if there are none, or if the file is corrupted: the user then signs in again. */
  async read(): Promise<Tokens | undefined> {
    try {
      return storedTokens(JSON.parse(await readFile(this.file, 'utf8')));
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Only under the lock. */
  async write(tokens: Tokens): Promise<void> {
    await chmod(dirname(this.file), 0o700);
    await replaceFile(this.file, `${JSON.stringify(tokens)}\n`, 0o600);
  }

  /** Only under the lock. */
  async delete(): Promise<void> {
    await rm(this.file, { force: true });
  }

  /** Runs `work` while no other process refreshes: a refresh token is valid for one use. */
  locked<Result>(work: () => Promise<Result>): Promise<Result> {
    return withLock(this.file, work);
  }
}
