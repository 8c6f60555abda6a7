// Tests of backup and restore of users, with the backup command from docs/operations.md#backup-and-restore. test/cluster runs the
// restore commands of the page, which need a pod.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { identityName } from '../../../../apis/iam/v1beta1/identity-resource.ts';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { rejection } from '../../../support/rejection.ts';
import { ROOT } from '../registration/registered-cluster.ts';
import { credential, type IamCluster, object, patchOf, user } from './iam-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

const run = promisify(execFile);
const NAMES = 'users.iam.platform.io,credentials.iam.platform.io,identities.iam.platform.io';
const APP = { secret: 'encrypted', addedTime: '2026-11-01T00:00:00Z', lastStep: 1 };
const PERSON = { provider: 'company', issuer: 'ldap:///dc=example', subject: 'a' };
const RESTORE = 'npm --silent --prefix ks-apiserver run user -- restore';
const PUT_BACK = `${RESTORE} - <users.json`;
/** More groups than admission allows in one write. */
const GROUPS = Array.from({ length: 40 }, (_, index) => `group-${index}`);

describe('users from a backup', () => {
  let cluster: IamCluster;
  let folder: string;
  let backUp: string;

  before(async () => {
    const text = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
    [, backUp = ''] = /^## Backup and restore\n.*?^```\n(.*?)^```$/ms.exec(text) ?? [];
    expect(backUp).to.include('users.json');
    folder = await mkdtemp(join(tmpdir(), 'restore-'));
    await symlink(ROOT, join(folder, 'ks-apiserver'));
    cluster = await clearedCluster();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs commands in a shell, in the folder of the kustomization. */
  async function type(commands: string): Promise<string> {
    const { kubectl, kubeconfig } = cluster.controlPlane;
    // If standard input is a pipe, bash can mistake it for a remote shell and read its startup files.
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
      cwd: folder,
      env: {
        ...process.env,
        PATH: [dirname(kubectl), process.env['PATH']].join(delimiter),
        KUBECONFIG: kubeconfig,
        HOME: folder,
      },
    });
    return stdout;
  }

  async function all(): Promise<Readonly<Record<string, unknown>>[]> {
    const list: unknown = JSON.parse(await cluster.kubectl(['get', NAMES, '-o', 'json']));
    return array(record(list)['items']).map(record);
  }

  const created = (text: string): Promise<string> =>
    cluster.kubectl(['create', '-f', '-', '-o', 'jsonpath={.metadata.uid}'], text);

  /** Without the fields that the cluster sets. */
  const restorable = ({ kind, metadata, spec }: Readonly<Record<string, unknown>>): unknown => {
    const { name, labels } = record(metadata);
    const { userUID: _, linkedTime: __, ...rest } = record(spec);
    return { kind, name, labels, spec: rest };
  };

  it('are the same in another cluster, with their passwords', async () => {
    const uid = await created(user('ada', { email: 'ada@example.com', groups: GROUPS.slice(0, 16) }));
    await cluster.kubectl(['label', 'users.iam.platform.io/ada', 'team=one']);
    for (const count of [32, 40]) {
      await cluster.kubectl(patchOf('users.iam.platform.io/ada', { groups: GROUPS.slice(0, count) }));
    }
    const robotUID = await created(user('robot', { disabled: true }));
    await created(credential('ada', { userUID: uid, mustChange: true }));
    const identity = { ...PERSON, user: 'ada', userUID: uid };
    await created(object('Identity', identityName(PERSON), identity));
    const recoveryCodes = [{ hash: 'a'.repeat(64) }];
    await created(object('Authenticators', 'ada', { userUID: uid, totp: APP, recoveryCodes }));
    await created(object('Authenticators', 'robot', { userUID: robotUID, totp: APP }));
    const before = await all();
    // The user of this person was recreated.
    const outdated = { ...PERSON, subject: 'b' };
    await created(
      object('Identity', identityName(outdated), { ...identity, ...outdated, userUID: 'earlier' }),
    );
    await type(backUp);
    await cluster.clear();
    expect(await all()).to.deep.equal([]);

    const failure = await rejection(type(PUT_BACK));
    expect(failure).to.have.property('stderr').that.includes('is not valid for the user ada\n');
    expect(failure)
      .to.have.property('stdout')
      .that.includes(
        'user ada restored\nuser robot restored\nrecovery codes of ada restored\npassword of ada restored\n',
      );
    const after = await all();
    expect(after.map(restorable)).to.deep.equal(before.map(restorable));
    const [ada, , password, link] = after.map((object) => record(object));
    expect(record(link?.['spec'])['userUID']).to.equal(record(ada?.['metadata'])['uid']);
    const { uid: adaUID } = record(ada?.['metadata']);
    expect(adaUID).not.to.equal(uid);
    expect(record(password?.['spec'])['userUID']).to.equal(adaUID);
    expect(record(array(record(password?.['metadata'])['ownerReferences'])[0])['uid']).to.equal(adaUID);
    const factors = ['get', 'authenticators.iam.platform.io', '-o', 'jsonpath={.spec}'];
    const ofAda = JSON.parse(await cluster.kubectl([...factors, 'ada']));
    expect(ofAda).to.deep.equal({ userUID: adaUID, recoveryCodes });
    // The password alone must not suffice.
    expect(failure)
      .to.have.property('stderr')
      .that.includes('robot has no recovery code: issue a one-time code');
    const ofRobot = record(JSON.parse(await cluster.kubectl([...factors, 'robot'])));
    expect(ofRobot).to.have.all.keys('userUID', 'recoveryCodes');
    expect(array(ofRobot['recoveryCodes'])).to.have.length(1);
  });

  it('do not replace existing users and passwords, and report them', async () => {
    await cluster.kubectl(['delete', 'users.iam.platform.io', 'robot']);
    const failure: unknown = await type(PUT_BACK).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 1);
    expect(failure).to.have.property('stderr').that.includes('user ada already exists\n');
    expect(failure).to.have.property('stderr').that.includes('ada already has a password\n');
    expect(failure).to.have.property('stderr').that.includes('ada already has second factors\n');
    expect(failure)
      .to.have.property('stderr')
      .that.includes(`run kubectl delete identity ${identityName(PERSON)}, and restore again\n`);
    expect(failure).to.have.property('stdout').that.includes('user robot restored\n');
  });

  it('are restored without the objects that the cluster rejects', async () => {
    await cluster.clear();
    const uids = await Promise.all(['eve', 'fay', 'gil'].map((name) => created(user(name, {}))));
    for (const [at, name] of ['eve', 'fay', 'gil'].entries()) {
      await created(credential(name, { userUID: uids[at] }));
    }
    await type(backUp);
    const file = join(folder, 'users.json');
    const backup = record(JSON.parse(await readFile(file, 'utf8')));
    const damaged = array(backup['items']).map((item) => {
      const { kind, metadata, spec } = record(item);
      const changes: Readonly<Record<string, object>> = {
        'User eve': { email: 'no address' },
        'Credential fay': { passwordHash: 'no hash' },
      };
      const change = changes[`${String(kind)} ${String(record(metadata)['name'])}`];
      return { ...record(item), spec: { ...record(spec), ...change } };
    });
    await writeFile(file, JSON.stringify({ items: damaged }));
    await cluster.clear();
    const failure = await rejection(type(PUT_BACK));
    expect(failure).to.have.property('code', 1);
    expect(failure)
      .to.have.property('stdout')
      .that.equals('user fay restored\nuser gil restored\npassword of gil restored\n');
    expect(failure)
      .to.have.property('stderr')
      .that.includes('user eve not restored: User.iam.platform.io "eve" is invalid: spec.email')
      .and.includes('password of eve skipped: the user does not exist')
      .and.matches(/^password of fay not restored: .*spec\.passwordHash/m)
      .and.not.includes('no hash');
  });

  it('need a recovery code if their second factors are damaged in the backup', async () => {
    await cluster.clear();
    const uid = await created(user('hal', {}));
    await created(credential('hal', { userUID: uid }));
    const recoveryCodes = [{ hash: 'a'.repeat(64) }];
    await created(object('Authenticators', 'hal', { userUID: uid, recoveryCodes }));
    await type(backUp);
    const file = join(folder, 'users.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('a'.repeat(64), 'damaged'));
    await cluster.clear();
    const failure = await rejection(type(PUT_BACK));
    expect(failure)
      .to.have.property('stderr')
      .that.includes('hal has no recovery code: issue a one-time code');
    expect(failure).to.have.property('stdout').that.includes('password of hal restored\n');
    const factors = ['get', 'authenticators.iam.platform.io', 'hal', '-o', 'jsonpath={.spec.recoveryCodes}'];
    expect(JSON.parse(await cluster.kubectl(factors))).to.have.length(1);
  });

  for (const [what, text] of [
    ['no JSON', 'secret{'],
    ['no users', '{"items":[{"kind":"Session"}]}'],
  ] as const) {
    it(`are not read from ${what}`, async () => {
      await writeFile(join(folder, 'other.json'), text);
      const failure: unknown = await type(`${RESTORE} "$PWD/other.json"`).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 1);
      expect(failure)
        .to.have.property('stderr')
        .that.matches(/^ks-apiserver: the file contains no users in the format of kubectl .*\n$/);
    });
  }
});
