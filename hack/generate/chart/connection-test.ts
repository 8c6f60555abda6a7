// Template of the pod that `helm test` starts. It runs the image of the server, because a cluster without internet access
// has no other one.
import { groupVersionsOf } from '../groups.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { SERVER } from '../names.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from '../workload.ts';
import { each, TEMPLATE_NAMES, value, when } from './template.ts';
import { imageMembers } from './workload-templates.ts';

/** In seconds. The pods are ready before their caches are complete. */
const TIMEOUT = 120;

/**
 * Reads /readyz of the server, and the paths of the arguments at kube-apiserver. The addresses are those of the environment,
 * because some clusters have no DNS.
 */
const CHECK = `
const { readFileSync } = require('node:fs');
const { request } = require('node:https');
const { setTimeout } = require('node:timers/promises');
const { env } = process;
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const authorization = 'Bearer ' + readFileSync(account + '/token', 'utf8');
const urlOf = (name, path) => {
  const host = env[name + '_SERVICE_HOST'];
  return 'https://' + (host.includes(':') ? '[' + host + ']' : host) + ':' + env[name + '_SERVICE_PORT'] + path;
};
const get = (url, options) => new Promise((resolve, reject) => {
  const sent = request(url, { timeout: 10000, ...options }, (response) => {
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (chunk) => { body += chunk; });
    response.on('end', () => response.statusCode === 200 ? resolve(body) : reject(new Error(response.statusCode + ' ' + body)));
  });
  sent.on('timeout', () => sent.destroy(new Error('timeout'))).on('error', reject).end();
});
const check = async (url, options) => {
  for (let previous; ;) {
    try {
      const body = await get(url, options);
      console.log(url + ': ok');
      return body;
    } catch (error) {
      if (error.message !== previous) console.log(url + ': ' + error.message);
      previous = error.message;
      await setTimeout(1000);
    }
  }
};
// This request has no credentials. kube-apiserver verifies the certificate in those after it.
const main = async () => {
  console.log(await check(urlOf('KS_APISERVER', '/readyz?verbose'), { rejectUnauthorized: false }));
  const options = { ca: readFileSync(account + '/ca.crt'), headers: { authorization } };
  for (const path of process.argv.slice(1)) await check(urlOf('KUBERNETES', path), options);
};
main();
`;

export function connectionTest(): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${SERVER}-test`,
      namespace: TEMPLATE_NAMES.namespace,
      annotations: {
        'helm.sh/hook': 'test',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: TIMEOUT,
      // Without a RoleBinding: every ServiceAccount can read the discovery of an API.
      serviceAccountName: 'default',
      automountServiceAccountToken: true,
      securityContext: POD_SECURITY,
      ...when('.Values.image.pullSecrets', {
        imagePullSecrets: each('.Values.image.pullSecrets', { name: value('.') }),
      }),
      containers: [
        {
          name: 'test',
          ...imageMembers(),
          command: ['node', '--eval', CHECK],
          args: groupVersionsOf(TEMPLATE_NAMES).map(({ group, version }) => `/apis/${group}/${version}`),
          securityContext: CONTAINER_SECURITY,
          resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
        },
      ],
    },
  };
}
