// Creates the users of the bench, and repeats requests in parallel.
import { hash } from '@node-rs/argon2';
import { until } from '../../system/until.ts';
import type { TokenClient } from '../measuring/token-client.ts';
import type { Scene } from './scene.ts';

export const PASSWORD = 'only for as long as the bench runs';
/** Enough users that none exceeds the session limit. */
export const USERS: readonly string[] = Array.from({ length: 200 }, (_, index) => `bench-login-${index}`);
export const AT_A_TIME = 8;

/** Repeats the work in parallel lanes for a time; returns the number of completions. */
export async function repeat(
  seconds: number,
  work: (turn: number, lane: number) => Promise<unknown>,
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let turn = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async (_, lane) => {
      while (performance.now() < until) {
        await work(turn++, lane);
        done++;
      }
    }),
  );
  return done;
}

export function userOf(turn: number): string {
  return USERS[turn % USERS.length] ?? '';
}

/** Creates the missing users. */
export async function addUsers({ cluster }: Pick<Scene, 'cluster'>, names = USERS): Promise<void> {
  const passwordHash = await hash(PASSWORD);
  const create = async (kind: string, name: string, spec: object): Promise<string | undefined> => {
    const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec };
    const path = `/apis/iam.platform.io/v1beta1/${kind.toLowerCase()}s`;
    const answer = await cluster.expect(path, { method: 'POST', body }, [201, 409]);
    if (answer.status === 409) return undefined;
    return (JSON.parse(answer.body) as { metadata: { uid: string } }).metadata.uid;
  };
  await Promise.all(
    names.map(async (name) => {
      const userUID = await create('User', name, {});
      if (userUID === undefined) return;
      const changedTime = new Date().toISOString();
      await create('Credential', name, { userUID, passwordHash, changedTime });
    }),
  );
}

/** Resolves when the server has synced the user; by default the last one. */
export async function untilSynced(
  client: TokenClient,
  signal: AbortSignal,
  user = USERS.at(-1) ?? '',
): Promise<void> {
  const signedIn = (): Promise<boolean> => client.signIn(user, PASSWORD).then(() => true);
  await until(signedIn, { signal, timeoutMs: 30_000, pollMs: 500 });
}
