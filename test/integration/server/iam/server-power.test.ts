// Tests of the permissions of the server, with a real kube-apiserver: exactly those of the manifests, which the threat
// model lists.
import { expect } from 'chai';
import { pino } from 'pino';
import { array, record, recordIn, text, texts } from '../../../../apis/reading/unknown-value.ts';
import { type Answer, Client } from '../../../../hack/control-plane/client.ts';
import type { PolicyRule } from '../../../../hack/generate/kubernetes-object.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { serverPower } from '../../../../hack/generate/server-power.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { IMPERSONATOR, LIFETIME_SECONDS } from '../../../../server/gateway/impersonator-token.ts';
import { SecretKeyRing } from '../../../../server/oauth/keys/secret-key-ring.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';
import { API_SERVICE, type RegisteredCluster, SERVER_USER } from '../registration/registered-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

const NAMESPACE = 'platform-system';
const KEYS = 'ks-apiserver-signing-keys';
const IMPERSONATOR_PATH = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${IMPERSONATOR}`;
const { granted, bound } = serverPower(namesFor('platform'));
/** Roles that Kubernetes binds to every user and every ServiceAccount. */
const OF_EVERYBODY = ['system:basic-user', 'system:discovery', 'system:public-info-viewer'];
const OF_SERVICE_ACCOUNTS = ['system:service-account-issuer-discovery'];

describe('the ServiceAccount of the server', () => {
  let cluster: RegisteredCluster;
  let kubeconfig: string;
  let kubectl: (args: string, input?: string) => Promise<string>;

  before(async () => {
    cluster = await clearedCluster();
    await cluster.kubectl([
      'apply',
      '-f',
      'manifests/components/gateway-constrained-impersonation/access.yaml',
    ]);
    kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVER_USER);
    kubectl = (args, input) => cluster.kubectl([`--kubeconfig=${kubeconfig}`, ...args.split(' ')], input);
    await cluster.kubectl(['create', 'serviceaccount', 'deployer', `--namespace=${NAMESPACE}`]);
  });

  /** Each permission as `group/resource/name verb`. */
  function flattened(rules: readonly PolicyRule[]): Set<string> {
    const every = (values: readonly string[] | undefined): readonly string[] =>
      values === undefined || values.length === 0 ? ['*'] : values;
    return new Set(
      rules.flatMap(({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }) => [
        ...(nonResourceURLs ?? []).flatMap((url) => verbs.map((verb) => `${url} ${verb}`)),
        ...(resources ?? []).flatMap((resource) =>
          (apiGroups ?? []).flatMap((group) =>
            every(resourceNames).flatMap((name) =>
              verbs.map((verb) => `${group}/${resource}/${name} ${verb}`),
            ),
          ),
        ),
      ]),
    );
  }

  async function rulesOf(
    kind: string,
    name: string,
    namespace = 'kube-system',
  ): Promise<readonly PolicyRule[]> {
    const role = await cluster.kubectl(['get', kind, name, `--namespace=${namespace}`, '-o', 'json']);
    return array(record(JSON.parse(role))['rules']) as PolicyRule[];
  }

  async function expectedIn(namespace: string): Promise<Set<string>> {
    const applies = (scope: string | undefined): boolean => scope === undefined || scope === namespace;
    const own = granted.filter((each) => applies(each.namespace)).flatMap(({ rules }) => rules);
    const others = [
      ...bound.filter((each) => applies(each.namespace)).map(({ kind, name }) => [kind, name] as const),
      ...[...OF_EVERYBODY, ...OF_SERVICE_ACCOUNTS].map((name) => ['ClusterRole', name] as const),
    ];
    const rules = await Promise.all(others.map(([kind, name]) => rulesOf(kind, name)));
    return flattened([...own, ...rules.flat()]);
  }

  async function actualIn(namespace: string): Promise<Set<string>> {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace },
    };
    const made = await kubectl('create -o json -f -', JSON.stringify(review));
    const { resourceRules, nonResourceRules, incomplete } = recordIn(JSON.parse(made), 'status');
    expect(incomplete).to.equal(false);
    return flattened([...array(resourceRules), ...array(nonResourceRules)] as PolicyRule[]);
  }

  for (const namespace of [NAMESPACE, 'kube-system', 'default']) {
    it(`has exactly the permissions of the manifests in ${namespace}`, async () => {
      const [actual, expected] = [await actualIn(namespace), await expectedIn(namespace)];
      expect([...actual].toSorted()).to.deep.equal([...expected].toSorted());
    });
  }

  it('has exactly the permissions of the manifests by kubectl auth can-i', async () => {
    for (const { namespace = 'default', rules } of granted) {
      for (const { apiGroups = [], resources = [], resourceNames = [''], verbs } of rules) {
        const [group = ''] = apiGroups;
        for (const resource of resources) {
          const [kind = '', subresource] = resource.split('/');
          const target = `${kind}${group === '' ? '' : `.${group}`}${resourceNames[0] ? `/${resourceNames[0]}` : ''}`;
          const flags = `--namespace=${namespace}${subresource === undefined ? '' : ` --subresource=${subresource}`}`;
          expect(await kubectl(`auth can-i ${verbs[0]} ${target} ${flags}`), target).to.include('yes');
        }
      }
    }
  });

  const isForbidden = async (args: string, input?: string): Promise<void> => {
    const outcome = await kubectl(args, input).catch((error: unknown) => String(error));
    expect(outcome, args).to.match(/[Ff]orbidden|cannot /);
  };

  it('is refused a Secret with the token of another ServiceAccount', async () => {
    const type = 'kubernetes.io/service-account-token';
    const secret = (name: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        type,
        metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'deployer' } },
      });
    await isForbidden(`create --namespace=${NAMESPACE} -f -`, secret('stolen'));
    await isForbidden(`apply --server-side --namespace=${NAMESPACE} -f -`, secret('stolen'));
    await isForbidden(`create token deployer --namespace=${NAMESPACE}`);
    await cluster.kubectl(['create', `--namespace=${NAMESPACE}`, '-f', '-'], secret('of-another'));
    await isForbidden(`get secret of-another --namespace=${NAMESPACE}`);
    await isForbidden(`get secrets --namespace=${NAMESPACE}`);
    await isForbidden(`delete secret ${KEYS} --namespace=${NAMESPACE}`);
    // The type of an existing Secret is immutable.
    const own = record(JSON.parse(await kubectl(`get secret ${KEYS} --namespace=${NAMESPACE} -o json`)));
    const annotations = { 'kubernetes.io/service-account.name': 'deployer' };
    const changed = JSON.stringify({ ...own, type, metadata: { ...recordIn(own, 'metadata'), annotations } });
    const outcome = await kubectl('replace -f -', changed).catch((error: unknown) => String(error));
    expect(outcome).to.include('field is immutable');
  });

  describe('requests a token of the impersonator', () => {
    let server: Client;
    const send = (spec: object, query = ''): Promise<Answer> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
      return server.send(`${IMPERSONATOR_PATH}/token${query}`, { method: 'POST', body });
    };
    const LONGER = `the server gets tokens for at most ${LIFETIME_SECONDS} seconds`;

    before(async () => {
      const { url, ca, pki } = cluster.controlPlane;
      server = new Client(url, {
        ca,
        pair: await pki.issueClient({ cn: SERVER_USER.name, o: SERVER_USER.groups }),
      });
      await until(async () => (await send({ expirationSeconds: LIFETIME_SECONDS + 1 })).status === 403);
    });

    after(() => server[Symbol.dispose]());

    it(`for ${LIFETIME_SECONDS} seconds, which is how long it is valid`, async () => {
      const { status, body } = await send({ expirationSeconds: LIFETIME_SECONDS });
      expect(status).to.equal(201);
      const [, claims = ''] = text(recordIn(JSON.parse(body), 'status')['token']).split('.');
      const { iat, exp } = record(JSON.parse(Buffer.from(claims, 'base64url').toString()));
      expect(Number(exp) - Number(iat)).to.equal(LIFETIME_SECONDS);
    });

    for (const [title, spec, query] of [
      ['for a second more', { expirationSeconds: LIFETIME_SECONDS + 1 }],
      ['for the default lifetime', {}],
      // kube-apiserver extends 3,607 seconds to a year for tokens of pods.
      ['for the lifetime that kubelets request', { expirationSeconds: 3607 }],
      ['for a hundred years', { expirationSeconds: 3_155_760_000 }],
      ['for another audience', { expirationSeconds: 86_400, audiences: ['vault'] }],
      [
        'bound to a Secret',
        { expirationSeconds: 86_400, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: KEYS } },
      ],
      ['in a dry run', { expirationSeconds: 86_400 }, '?dryRun=All'],
    ] as const) {
      it(`${title}: refused`, async () => {
        const { status, body } = await send(spec, query);
        expect(status).to.equal(403);
        expect(body).to.include(LONGER);
      });
    }

    it('of any lifetime only as another caller', async () => {
      const token = await cluster.kubectl([
        ...['create', 'token', IMPERSONATOR, `--namespace=${NAMESPACE}`, '--duration=24h'],
      ]);
      expect(token).to.match(/^ey/);
    });
  });

  it('is refused what it does not need', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { containers: [] } };
    await isForbidden(`create --validate=false --namespace=${NAMESPACE} -f -`, JSON.stringify(pod));
    for (const args of [
      'get nodes --as=system:admin',
      'create clusterrolebinding mine --clusterrole=cluster-admin --user=x',
      'create rolebinding mine --clusterrole=view --user=x',
      'create clusterrole mine --verb=* --resource=secrets',
      'label apiservice v1.apps x=y',
      `delete apiservice ${API_SERVICE}`,
      'label configmap extension-apiserver-authentication x=y --namespace=kube-system',
      'label node x x=y',
    ]) {
      await isForbidden(args);
    }
    const denied = [
      ['create', 'pods/exec', NAMESPACE],
      ['create', 'pods/attach', NAMESPACE],
      ['create', 'pods/portforward', NAMESPACE],
      ['create', 'pods/ephemeralcontainers', NAMESPACE],
      ['get', 'pods/proxy', NAMESPACE],
      ['get', 'nodes/proxy', ''],
      ['create', 'serviceaccounts/token', NAMESPACE],
      ['create', 'secrets', NAMESPACE],
      ['list', 'secrets', NAMESPACE],
      ['list', 'secrets', 'kube-system'],
      ['update', 'configmaps', NAMESPACE],
      ['create', 'configmaps', 'kube-system'],
      ['update', 'leases.coordination.k8s.io', NAMESPACE],
      ['update', 'leases.coordination.k8s.io', 'kube-system'],
      ['patch', 'apiservices.apiregistration.k8s.io', ''],
      ['create', 'apiservices.apiregistration.k8s.io', ''],
      ['update', 'deployments.apps', NAMESPACE],
      ['create', 'certificatesigningrequests.certificates.k8s.io', ''],
      ['create', 'validatingwebhookconfigurations.admissionregistration.k8s.io', ''],
      ['delete', 'validatingadmissionpolicies.admissionregistration.k8s.io', ''],
      ['impersonate', 'users', ''],
      ['impersonate', 'groups', ''],
      ['escalate', 'clusterroles.rbac.authorization.k8s.io', ''],
      ['bind', 'clusterroles.rbac.authorization.k8s.io', ''],
      ['update', 'customresourcedefinitions.apiextensions.k8s.io', ''],
    ] as const;
    for (const [verb, resource, namespace] of denied) {
      const [kind = '', subresource] = resource.split('/');
      const [plural = '', ...group] = kind.split('.');
      const attributes = { verb, group: group.join('.'), resource: plural, subresource, namespace };
      expect(await cluster.allows(SERVER_USER, attributes), `${verb} ${resource}`).to.equal(false);
    }
  });

  it('creates the signing keys in the empty Secret, and an upgrade keeps them', async () => {
    const client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    const log = pino({ level: 'silent' });
    const stored = async (): Promise<Readonly<Record<string, string>>> =>
      texts(
        record(
          JSON.parse(
            await cluster.kubectl(['get', 'secret', KEYS, `--namespace=${NAMESPACE}`, '-o', 'json']),
          ),
        )['data'],
      );
    expect(await stored()).to.deep.equal({});
    {
      const options = { client, log, namespace: NAMESPACE, name: KEYS };
      const secrets = [1, 2].map(() => new SharedSecret(options));
      const rings = secrets.map((secret) => new SecretKeyRing({ ...options, secret }));
      await using _running = running(async (signal) => {
        await Promise.all(secrets.map((secret) => secret.run(signal)));
      });
      await until(() => rings.every(({ ready }) => ready));
      expect(new Set(rings.map((ring) => ring.signing().kid)).size).to.equal(1);
    }
    const before = await stored();
    expect(text(before['keys.json'])).not.to.equal('');
    await cluster.kubectl(['apply', '-k', 'manifests/access']);
    // A Secret that an earlier version has created has no annotation of kubectl apply.
    const withoutAnnotation = [
      'annotate',
      'secret',
      KEYS,
      'kubectl.kubernetes.io/last-applied-configuration-',
    ];
    await cluster.kubectl([...withoutAnnotation, `--namespace=${NAMESPACE}`]);
    await cluster.kubectl(['apply', '-k', 'manifests/access']);
    expect(await stored()).to.deep.equal(before);
    client.close();
  });
});
