// The people who sign in during the bench, and their doing so over and over.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { Client } from '../../control-plane/client.ts';
import type { TokenClient } from '../measuring/token-client.ts';
import type { Scene } from './scene.ts';

export const PASSWORD = 'only for as long as the bench runs';
/** So many that nobody has too many sessions. */
export const USERS: readonly string[] = Array.from({ length: 200 }, (_, index) => `bench-login-${index}`);
export const AT_A_TIME = 8;

/** Repeats the work in parallel lanes until the time is over; returns how often it was done. */
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

/** Of a client that may write everything. */
export async function writerClient({ writer }: Pick<Scene, 'writer'>): Promise<Client> {
  const [ca = '', cert = '', key = ''] = await Promise.all(
    [writer.ca, writer.cert, writer.key].map((file) => readFile(file, 'utf8')),
  );
  return new Client(writer.server, { ca, pair: { cert, key } }, 8);
}

/** Does nothing for users who exist already. */
export async function addUsers(scene: Scene): Promise<void> {
  const client = await writerClient(scene);
  const passwordHash = await hash(PASSWORD);
  const create = async (kind: string, name: string, spec: object): Promise<string | undefined> => {
    const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec };
    const path = `/apis/iam.platform.io/v1beta1/${kind.toLowerCase()}s`;
    const answer = await client.expect(path, { method: 'POST', body }, [201, 409]);
    if (answer.status === 409) return undefined;
    return (JSON.parse(answer.body) as { metadata: { uid: string } }).metadata.uid;
  };
  try {
    await Promise.all(
      USERS.map(async (name) => {
        const userUID = await create('User', name, {});
        if (userUID === undefined) return;
        const changedTime = new Date().toISOString();
        await create('Credential', name, { userUID, passwordHash, changedTime });
      }),
    );
  } finally {
    client.close();
  }
}

/** Resolves when the server knows the last of the users. */
export async function known(client: TokenClient, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(30_000)]);
  const last = USERS.at(-1) ?? '';
  for (;;) {
    const signedIn = await client.signIn(last, PASSWORD).then(
      () => true,
      () => false,
    );
    if (signedIn) return;
    await delay(500, undefined, { signal: patience });
  }
}
