// The platform of all tests of the page `/explore`: a simulated cluster with applications, and a browser.
import { stringify } from 'yaml';
import { startChromium } from '../../../hack/browser/chromium.ts';
import { namesFor } from '../../../hack/generate/names.ts';
import { startKwok } from '../../../hack/simulation/kwok.ts';
import { nodeName } from '../../../hack/simulation/realistic-node.ts';
import { exampleObjects } from '../../../hack/start/examples.ts';
import { shareEnvironment } from '../../support/shared-environment.ts';
import { PASSWORD, Platform } from '../platform.ts';
import { Visitor } from './visitor.ts';

/** Users with the password PASSWORD. */
export const USERS = {
  /** Reads and changes everything. */
  admin: 'ada',
  /** Reads everything, as the role `view` does. */
  viewer: 'vera',
  /** Reads two namespaces. */
  tenant: 'tom',
} as const;

/** The namespaces of the tenant. */
export const TENANT_NAMESPACES = ['payments', 'shop'];

const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' };

function binding(role: string, user: string, namespace?: string): object {
  return {
    ...RBAC,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `${role}-${user}`, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
}

/** The names of users at kube-apiserver and at this server are equal. */
function bindings(): string {
  const { admin, viewer, tenant } = USERS;
  return [
    binding('cluster-admin', admin),
    binding('view', viewer),
    binding('platform-nodes-reader', viewer),
    binding('platform-logs-reader', viewer),
    ...TENANT_NAMESPACES.map((namespace) => binding('view', tenant, namespace)),
  ]
    .map((object) => stringify(object))
    .join('---\n');
}

export const sharedExplore = shareEnvironment(async () => {
  const platform = await Platform.start(0, {
    configure: async () => ({
      resources: { nodes: { usageAnnotations: true } },
      shutdown: { readinessDelay: '0s' },
    }),
  });
  try {
    const { controlPlane, signal } = platform;
    await startKwok(controlPlane, { nodes: 3, pods: 12, signal });
    const names = namesFor('platform');
    const objects = `${exampleObjects(names, nodeName(1))}---\n${bindings()}`;
    await platform.succeeding('apply -f', await platform.write('explore.yaml', objects));
    for (const user of Object.values(USERS)) {
      await platform.addUser(user);
      await platform.accepted(await platform.signIn(user));
    }
    const chromium = await startChromium();
    return {
      platform,
      /** A browser of its own, without cookies and storage. `server`: another one. `proxy`: of all its connections. */
      visitor: ({ server = platform.server.url, proxy }: { server?: string; proxy?: string } = {}) =>
        Visitor.start(chromium.browser, { server, password: PASSWORD, proxy }),
      stop: async () => {
        await chromium[Symbol.asyncDispose]();
        await platform.stop();
      },
    };
  } catch (error) {
    await platform.stop();
    throw error;
  }
});
