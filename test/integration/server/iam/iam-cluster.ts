// Starts a control plane with the CRDs and admission policies of the IAM API, for tests. Writes and kubectl can act as
// any user.
import { record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { Client, type ClientRequest } from '../../../../hack/control-plane/client.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import { type RegisteredCluster, startCluster } from '../registration/registered-cluster.ts';

/** A control plane with the CRDs and admission policies of the IAM API, and kubectl for any user. */
export interface IamCluster extends RegisteredCluster {
  /** Runs kubectl as this user. Resolves with the standard output, rejects with the standard error. */
  as(user: string, args: readonly string[], input?: string): Promise<string>;
  /** Runs a kubectl command that must fail; resolves with its message. */
  refusal(user: string, args: readonly string[]): Promise<string>;
  /** Writes an object of the IAM API as this user, with strict validation. Rejects with the Status of the response. */
  write(user: string, verb: Write, object: string): Promise<void>;
  /** A write that must fail; resolves with the reason and the message of the response. */
  refusedWrite(user: string, verb: Write, object: string): Promise<string>;
  /** Deletes all users, credentials and sessions. */
  clear(): Promise<void>;
}

/** `apply`: server-side apply, with one field manager for all users. */
type Write = 'create' | 'apply' | 'replace';

const PLURALS = ['users', 'credentials', 'identities', 'authenticators', 'sessions'];

/** The administrator of the control plane itself. */
export const ROOT_USER = '';
const IAM = '/apis/iam.platform.io/v1beta1';
const APPLY = 'application/apply-patch+yaml';

export async function startIamCluster(): Promise<IamCluster> {
  const cluster = await startCluster();
  const kubeconfigOf = perUser((name) => cluster.controlPlane.kubeconfigFor({ name }));
  const as: IamCluster['as'] = async (user, args, input) =>
    cluster.kubectl(user === ROOT_USER ? args : ['--kubeconfig', await kubeconfigOf(user), ...args], input);
  const clients: Client[] = [];
  const clientOf = perUser(async (name) => {
    const { url, ca, pki } = cluster.controlPlane;
    const client = new Client(url, { ca, pair: await pki.issueClient({ cn: name, o: [] }) });
    clients.push(client);
    return client;
  });
  const write: IamCluster['write'] = async (user, verb, json) => {
    const client = user === ROOT_USER ? cluster.controlPlane.client : await clientOf(user);
    const body = record(JSON.parse(json));
    const kind = text(body['kind']).toLowerCase();
    const collection = `${IAM}/${pluralOf(kind)}`;
    const path = `${collection}/${text(recordIn(body, 'metadata')['name'])}`;
    const query = '?fieldValidation=Strict&fieldManager=test';
    const send = async (target: string, request: ClientRequest): Promise<void> => {
      const { status, body: answer } = await client.send(target, request);
      if (status < 300) return;
      const { reason, message } = record(JSON.parse(answer));
      throw new Error(`(${text(reason)}) ${text(message)}`);
    };
    if (verb === 'create') return send(`${collection}${query}`, { method: 'POST', body });
    if (verb === 'apply') {
      return send(`${path}${query}&force=true`, { method: 'PATCH', body, contentType: APPLY });
    }
    const { resourceVersion } = recordIn(record(await client.get(path)), 'metadata');
    const replaced = { ...body, metadata: { ...recordIn(body, 'metadata'), resourceVersion } };
    return send(`${path}${query}`, { method: 'PUT', body: replaced });
  };
  await cluster.kubectl(['apply', '-k', 'manifests/access']);
  await cluster.kubectl(['apply', '-k', 'manifests/identity']);
  // Discovery lists the kinds a little later, and kubectl needs it.
  const discovery = ['api-resources', '--api-group=iam.platform.io', '-o', 'name'];
  await until(async () => {
    const names = (await cluster.kubectl(discovery)).split('\n');
    return PLURALS.every((plural) => names.includes(`${plural}.iam.platform.io`));
  });
  const names = PLURALS.map((plural) => `${plural}.iam.platform.io`).join();
  return {
    ...cluster,
    as,
    clear: async () => {
      await cluster.kubectl(['delete', names, '--all']);
    },
    refusal: async (user, args) => (await rejection(as(user, args))).message,
    write,
    refusedWrite: async (user, verb, object) => (await rejection(write(user, verb, object))).message,
    stop: async () => {
      for (const client of clients) client.close();
      await cluster.stop();
    },
  };
}

function pluralOf(kind: string): string {
  if (kind.endsWith('s')) return kind;
  return kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

/** Makes one value for each user. */
function perUser<T>(make: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (name) => {
    const value = made.get(name) ?? make(name);
    made.set(name, value);
    return value;
  };
}

/** Arguments of kubectl that merge `spec` into an object, such as `users.iam.platform.io/ada`. */
export function patchOf(target: string, spec: object): string[] {
  return ['patch', target, '--type=merge', '-p', JSON.stringify({ spec })];
}

export function user(name: string, spec: object = {}): string {
  return object('User', name, spec);
}

export function object(kind: string, name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec });
}

/** A valid format only. */
export const SOME_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';

export function credential(name: string, spec: object = {}): string {
  return object('Credential', name, {
    userUID: 'a-uid',
    passwordHash: SOME_HASH,
    changedTime: '2026-01-02T03:04:05.678Z',
    ...spec,
  });
}

export function session(name: string, spec: object = {}): string {
  const time = '2026-01-02T03:04:05.678Z';
  return object('Session', name, {
    user: 'ada',
    userUID: 'a-uid',
    clientID: 'platform',
    scopes: ['openid'],
    source: '192.0.2.7',
    userAgent: 'curl/8',
    createdTime: time,
    lastUsedTime: time,
    notAfter: time,
    idleNotAfter: time,
    generation: 0,
    refreshHash: 'a'.repeat(64),
    familyHash: '',
    mac: '1:ab',
    ...spec,
  });
}
