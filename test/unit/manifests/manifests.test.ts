// Tests of the generated manifests.
import { expect } from 'chai';
import { parseAllDocuments, parseDocument } from 'yaml';
import { decodeConfiguration } from '../../../apis/config/v1alpha1/decode.ts';
import { array, record } from '../../../apis/reading/unknown-value.ts';
import { clusterRules } from '../../../hack/generate/access.ts';
import { manifests } from '../../../hack/generate/manifests.ts';
import { type Names, namesFor } from '../../../hack/generate/names.ts';
import {
  CONFIGURATION,
  container,
  INSECURE_PORT,
  NOT_PROBED,
  READINESS_PATH,
  SECURE_PORT,
  TERMINATION_GRACE_SECONDS,
} from '../../../hack/generate/workload.ts';
import { healthRegistries } from '../../../server/endpoints/health-checks.ts';
import { DRAIN_TIMEOUT_MS } from '../../../server/listener/drain.ts';

/** kube-proxy replaces its rules at most once per second: the last connection to a removed pod came after 1.2 s on a busy node. */
const PROXY_SECONDS = 2;

const CONFIGURATIONS = [`base/${CONFIGURATION.file}`, `components/no-plain-http/${CONFIGURATION.file}`];

function text(names: Names, path: string): string {
  const found = manifests(names).get(path);
  if (found === undefined) throw new Error(`no manifest ${path}`);
  return found;
}

describe('the generated manifests', () => {
  for (const path of CONFIGURATIONS) {
    it(`contain a configuration that the server accepts: ${path}`, () => {
      const configuration = decodeConfiguration({ source: path, text: text(namesFor('acme'), path) });
      expect(configuration.platform.name).to.equal('acme');
      expect(configuration.listeners.secure.port).to.equal(SECURE_PORT.number);
      expect(configuration.registration.manageCABundle).to.equal(true);
    });
  }

  it('enable the plain-HTTP listener in the base, and disable it in its component', () => {
    const [base = '', component = ''] = CONFIGURATIONS.map((path) => text(namesFor('platform'), path));
    const insecure = (yaml: string) => decodeConfiguration({ source: '', text: yaml }).listeners.insecure;
    expect(insecure(base)).to.include({ enabled: true, port: INSECURE_PORT.number });
    expect(insecure(component).enabled).to.equal(false);
  });

  it('give the server more time to stop than its configuration needs', () => {
    const { shutdown } = decodeConfiguration({
      source: '',
      text: text(namesFor('platform'), `base/${CONFIGURATION.file}`),
    });
    expect(TERMINATION_GRACE_SECONDS * 1000).to.be.greaterThan(shutdown.readinessDelay + DRAIN_TIMEOUT_MS);
  });

  it('remove a stopping pod from the Service before its listeners close, even if only the container restarts', () => {
    const { readinessProbe } = container();
    const { shutdown } = decodeConfiguration({
      source: '',
      text: text(namesFor('platform'), `base/${CONFIGURATION.file}`),
    });
    const unready = readinessProbe.periodSeconds * readinessProbe.failureThreshold;
    expect((unready + PROXY_SECONDS) * 1000).to.be.lessThan(shutdown.readinessDelay);
  });

  it('take a slow server out of the Service long before they restart it', () => {
    const { livenessProbe, readinessProbe } = container();
    const seconds = (probe: typeof livenessProbe): number =>
      Math.max(probe.periodSeconds, probe.timeoutSeconds) * probe.failureThreshold;
    expect(seconds(livenessProbe)).to.be.at.least(4 * seconds(readinessProbe));
  });

  it('contain no other platform name', () => {
    for (const [path, content] of manifests(namesFor('acme'))) {
      expect(content.match(/\bplatform-system\b|\bplatform\.io\b|\bplatform:/g) ?? [], path).to.satisfy(
        (found: string[]) => path.endsWith(CONFIGURATION.file) || found.length === 0,
      );
    }
  });

  it('are all referenced by a kustomization', () => {
    const all = manifests(namesFor('platform'));
    const named = [...all]
      .filter(([path]) => path.endsWith('kustomization.yaml'))
      .map(([, content]) => content);
    for (const path of all.keys()) {
      if (path.endsWith('kustomization.yaml')) continue;
      const file = path.slice(path.indexOf('/') + 1).replace(/^[^/]*\//, '');
      expect(named.join('\n'), path).to.include(file);
    }
  });

  it('allow the ports of the pods in the network policy, plain HTTP from pods only', () => {
    const names = namesFor('acme');
    const policy: unknown = parseDocument(
      text(names, 'components/network-policy/network-policy.yaml'),
    ).toJS();
    const deployment: unknown = parseDocument(text(names, 'base/deployment.yaml')).toJS();
    expect(record(record(policy)['metadata'])['namespace']).to.equal('acme-system');
    const { podSelector, ingress } = record(record(policy)['spec']);
    const template = record(record(record(deployment)['spec'])['template']);
    expect(record(template['metadata'])['labels']).to.deep.include(record(podSelector)['matchLabels']);
    const rules = array(ingress).map(record);
    const listening = array(record(array(record(template['spec'])['containers'])[0])['ports']).map(record);
    expect(rules.map(({ ports }) => record(array(ports)[0])['port'])).to.deep.equal(
      listening.map(({ containerPort }) => containerPort),
    );
    expect(rules.map(({ from }) => from)).to.deep.equal([undefined, [{ namespaceSelector: {} }]]);
  });

  it('have a quota for exactly the priority class of the pods', () => {
    const names = namesFor('acme');
    const quota: unknown = parseDocument(text(names, 'components/priority-quota/resource-quota.yaml')).toJS();
    const deployment: unknown = parseDocument(text(names, 'base/deployment.yaml')).toJS();
    const priority = record(record(record(record(deployment)['spec'])['template'])['spec'])[
      'priorityClassName'
    ];
    expect(quota).to.have.nested.property('metadata.namespace', 'acme-system');
    expect(quota).to.have.deep.nested.property('spec.scopeSelector.matchExpressions', [
      { scopeName: 'PriorityClass', operator: 'In', values: [priority] },
    ]);
  });

  it('limit the server to changes of the APIServices of its own groups', () => {
    for (const rule of clusterRules(namesFor('acme'))) {
      const isRead = rule.verbs.every((verb) => verb === 'list' || verb === 'watch');
      if (rule.resources?.includes('apiservices') && !isRead) {
        expect(rule.resourceNames).to.deep.equal(['v1alpha3.resources.acme.io', 'v1alpha2.logging.acme.io']);
        expect(rule.verbs).to.deep.equal(['patch']);
      }
      expect(rule.verbs).not.to.include('*');
      expect(rule.resources).not.to.include('*');
      expect(rule.resources).not.to.include('secrets');
    }
  });

  it('bind every permission to the ServiceAccount of the pods', () => {
    const names = namesFor('acme');
    const pods = parseAllDocuments(text(names, 'base/deployment.yaml')).map((each) => each.toJS() as unknown);
    expect(pods).to.have.nested.property('[0].spec.template.spec.serviceAccountName', 'ks-apiserver');
    expect(pods).to.have.nested.property('[0].metadata.namespace', 'acme-system');
    const bindings = parseAllDocuments(text(names, 'access/server.yaml'))
      .map((each) => each.toJS() as { kind: string; subjects?: unknown })
      .filter(({ kind }) => kind.endsWith('Binding'));
    expect(bindings).to.have.length(5);
    for (const { subjects } of bindings) {
      expect(subjects).to.deep.equal([
        { kind: 'ServiceAccount', name: 'ks-apiserver', namespace: 'acme-system' },
      ]);
    }
  });

  it('harden and probe Headlamp as the server, and give it neither a permission nor a credential', () => {
    const names = namesFor('acme');
    const podOf = (path: string): Readonly<Record<string, unknown>> => {
      const documents = parseAllDocuments(text(names, path)).map((each) => record(each.toJS()));
      const found = documents.find((document) => document['kind'] === 'Deployment');
      return record(record(record(found?.['spec'])['template'])['spec']);
    };
    const containers = (pod: Readonly<Record<string, unknown>>) =>
      [...array(pod['initContainers'] ?? []), ...array(pod['containers'])].map(record);
    const [server, headlamp] = [podOf('base/deployment.yaml'), podOf('components/headlamp/headlamp.yaml')];
    expect(headlamp['securityContext']).to.deep.equal(server['securityContext']);
    const [hardened] = containers(server).map(({ securityContext }) => securityContext);
    for (const container of containers(headlamp))
      expect(container['securityContext']).to.deep.equal(hardened);
    for (const name of ['livenessProbe', 'readinessProbe']) {
      const [ours, probe] = [server, headlamp].map((pod) =>
        record(array(pod['containers']).map(record)[0]?.[name]),
      );
      expect({ ...probe, httpGet: ours?.['httpGet'] }, name).to.deep.equal(ours);
    }
    expect(headlamp).to.include({ serviceAccountName: 'headlamp', automountServiceAccountToken: false });
    expect(JSON.stringify(headlamp['volumes'])).not.to.include('serviceAccountToken');
    const granted = [...manifests(names)].filter(([, content]) => /kind: \w*RoleBinding/.test(content));
    for (const [path, content] of granted) expect(content, path).not.to.include('headlamp');
  });

  it('keep a server without synced caches in its Service until it stops', () => {
    const deployment: unknown = parseDocument(text(namesFor('platform'), 'base/deployment.yaml')).toJS();
    const probe = 'spec.template.spec.containers[0].readinessProbe.httpGet.path';
    expect(deployment).to.have.nested.property(probe, READINESS_PATH);
    const readyz = healthRegistries({
      cacheSynced: () => false,
      accessKnown: () => false,
      describeFrontProxy: () => '',
      certificateReady: () => false,
      describeRegistration: () => '',
      describeLogs: () => '',
      describeProviders: () => '',
      describeKinds: () => '',
      describeGateway: () => '',
      oauthMissing: () => ['keys'],
      stopping: () => true,
    }).find(({ path }) => path === 'readyz');
    expect(readyz?.names).to.include.members([...NOT_PROBED, 'shutdown']);
    expect(NOT_PROBED).not.to.include('shutdown');
  });
});

describe('the name of a platform', () => {
  for (const name of ['', 'Acme', 'a.b', '-a', 'a-', '1a', 'a'.repeat(51), 'a b', 'a\n']) {
    it(`is rejected if it cannot be part of an API group: ${JSON.stringify(name)}`, () => {
      expect(() => namesFor(name)).to.throw('cannot be part of an API group');
    });
  }
});
