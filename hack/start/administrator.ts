// The administrator of `npm start`: a user with a random password that stays the same across starts.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hash } from '@node-rs/argon2';
import { administratorsGroup, groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';
import type { Names } from '../generate/names.ts';
import { until } from '../system/until.ts';

export interface Administrator {
  readonly name: string;
  /** Undefined after a change by the user. */
  readonly password: string | undefined;
}

interface Password {
  readonly password: string;
  /** `spec.changedTime` of its Credential: a later password has another one. */
  readonly changedTime: string;
}

const NAME = 'ada';
const APPLY = 'application/apply-patch+yaml';

/**
 * Creates the user and the password if they are missing, and keeps those that exist. `file` stores the password, readable
 * only for the owner. Before the server starts, so that the server creates no first administrator.
 */
export async function ensureAdministrator(
  client: Client,
  { platform }: Names,
  file: string,
  signal: AbortSignal,
): Promise<Administrator> {
  const group = groupName(platform);
  const path = (plural: string): string => `/apis/${group}/${VERSION}/${plural}/${NAME}`;
  const read = async (plural: string): Promise<unknown> => {
    const { status, body } = await client.expect(path(plural), { signal }, [200, 404]);
    return status === 404 ? undefined : JSON.parse(body);
  };
  const apply = async (kind: string, spec: object): Promise<unknown> => {
    const object = { apiVersion: `${group}/${VERSION}`, kind, metadata: { name: NAME }, spec };
    const request = { method: 'PATCH', body: object, contentType: APPLY, signal } as const;
    const query = 'fieldManager=ks-apiserver-dev&force=true';
    const { body } = await client.expect(`${path(`${kind.toLowerCase()}s`)}?${query}`, request, [200, 201]);
    return JSON.parse(body);
  };
  await until(() => isServed(client, group, signal), { signal });
  const spec = { displayName: 'Ada', groups: [administratorsGroup(platform)] };
  const user = (await read('users')) ?? (await apply('User', spec));
  const userUID = text(recordIn(user, 'metadata')['uid']);
  const credential = recordIn(await read('credentials'), 'spec');
  if (credential['userUID'] === userUID) {
    const saved = await readSaved(file);
    const isOurs = saved?.changedTime === credential['changedTime'];
    return { name: NAME, password: isOurs ? saved?.password : undefined };
  }
  const created = { password: newPassword(), changedTime: new Date().toISOString() };
  await writeFile(file, JSON.stringify(created), { mode: 0o600 });
  const { password, changedTime } = created;
  await apply('Credential', { userUID, passwordHash: await hash(password), changedTime });
  return { name: NAME, password };
}

/** False until kube-apiserver serves the custom resources that were just created. */
async function isServed(client: Client, group: string, signal: AbortSignal): Promise<boolean> {
  const paths = ['users', 'credentials'].map((plural) => `/apis/${group}/${VERSION}/${plural}?limit=1`);
  const answers = await Promise.all(paths.map((path) => client.send(path, { signal })));
  return answers.every(({ status }) => status === 200);
}

/** 80 bits in four groups that are easy to read and to type. */
function newPassword(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  const characters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]);
  return characters.join('').replaceAll(/.{4}(?=.)/g, '$&-');
}

async function readSaved(file: string): Promise<Password | undefined> {
  try {
    const { password, changedTime } = record(JSON.parse(await readFile(file, 'utf8')));
    return { password: text(password), changedTime: text(changedTime) };
  } catch {
    return undefined;
  }
}
