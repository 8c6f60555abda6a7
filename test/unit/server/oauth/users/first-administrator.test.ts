// Tests of the creation of the first administrator.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { texts } from '../../../../../apis/reading/unknown-value.ts';
import {
  ADMINISTRATOR,
  FirstAdministrator,
  SECRET_NAME,
} from '../../../../../server/oauth/users/first-administrator.ts';
import { MemoryObjects } from '../../../../support/cluster/memory-objects.ts';
import { MemoryCredentials, MemoryUsers } from '../../../../support/oauth/memory-users.ts';
import { rejection } from '../../../../support/rejection.ts';

const SECRET = `/api/v1/namespaces/acme-system/secrets/${SECRET_NAME}`;
const { signal } = new AbortController();

describe('the first administrator', () => {
  let cluster: MemoryObjects;
  let users: MemoryUsers;
  let credentials: MemoryCredentials;
  let lines: unknown[];
  let passwords: number;

  const log = (...line: unknown[]) => void lines.push(line);
  const replica = (hash = (password: string) => Promise.resolve(`hash of ${password}`)): FirstAdministrator =>
    new FirstAdministrator({
      client: cluster,
      platform: { name: 'acme', namespace: 'acme-system' },
      users,
      credentials,
      hasher: { hash },
      log: { info: log, warn: log },
      now: () => 1000,
      newPassword: () => `random-${++passwords}`,
    });
  const decoded = (text = ''): string => Buffer.from(text, 'base64').toString();
  const secret = () => {
    const { username, password } = texts(cluster.objects.get(SECRET)?.['data']);
    return { username: decoded(username), password: decoded(password) };
  };

  beforeEach(() => {
    cluster = new MemoryObjects();
    users = new MemoryUsers();
    credentials = new MemoryCredentials();
    lines = [];
    passwords = 0;
  });

  it('keeps a changed password, also when the Secret is deleted', async () => {
    await replica().ensure(signal);
    const first = credentials.get(ADMINISTRATOR);
    if (!first) throw new Error('no password');
    await credentials.set(ADMINISTRATOR, { ...first, passwordHash: 'another' });
    await replica().ensure(signal);
    cluster.objects.delete(SECRET);
    await replica().ensure(signal);
    expect(credentials.get(ADMINISTRATOR)?.passwordHash).to.equal('another');
  });

  it('gets the password of the Secret after an interrupted attempt', async () => {
    const killed = newServiceUnavailable('the process was killed');
    await rejection(replica(() => Promise.reject(killed)).ensure(signal));
    expect(users.get(ADMINISTRATOR)).not.to.equal(undefined);
    expect(credentials.get(ADMINISTRATOR)).to.equal(undefined);
    await replica().ensure(signal);
    expect(credentials.get(ADMINISTRATOR)?.passwordHash).to.equal(`hash of ${secret().password}`);
    expect(passwords).to.equal(1);
  });

  it('gets a random password in the empty Secret of the manifests, also with several replicas', async () => {
    const labels = { installed: 'by kustomize' };
    cluster.objects.set(SECRET, { metadata: { name: SECRET_NAME, labels, resourceVersion: '0' } });
    await Promise.all([replica().ensure(signal), replica().ensure(signal)]);
    expect(credentials.get(ADMINISTRATOR)?.passwordHash).to.equal(`hash of ${secret().password}`);
    expect(cluster.objects.get(SECRET)).to.have.deep.nested.property('metadata.labels', labels);
    expect(cluster.requests.filter((request) => request.startsWith('POST'))).to.deep.equal([]);
  });

  it('gets the password of an existing Secret, but only in a cluster without users', async () => {
    const chosen = {
      metadata: { name: SECRET_NAME, resourceVersion: '0' },
      data: { password: Buffer.from('my own choice').toString('base64') },
    };
    cluster.objects.set(SECRET, structuredClone(chosen));
    await users.create({ metadata: { name: 'ada' }, spec: {} });
    await replica().ensure(signal);
    expect(users.get(ADMINISTRATOR)).to.equal(undefined);
    expect(cluster.objects.size).to.equal(1);
    await users.delete('ada', users.get('ada')?.uid ?? '');
    await replica().ensure(signal);
    expect(credentials.get(ADMINISTRATOR)?.passwordHash).to.equal('hash of my own choice');
  });

  it('retries during an outage of the cluster, with one warning', async () => {
    let failures = 2;
    cluster.before = () => {
      if (failures-- > 0) throw newServiceUnavailable('kube-apiserver is unreachable');
    };
    await replica().run(signal);
    expect(credentials.get(ADMINISTRATOR)).not.to.equal(undefined);
    expect(lines).to.have.length(2);
  });
});
