// Creates the text with example commands that `npm start` prints after the server is ready.
import { join } from 'node:path';
import { administratorsGroup } from '../../apis/iam/v1beta1/group-version.ts';
import {
  VERSION as LOGGING_VERSION,
  groupName as loggingGroup,
} from '../../apis/logging/v1alpha2/group-version.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Names } from '../generate/names.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { DevelopmentServer } from './development-server.ts';
import { DEVELOPER, TENANT } from './examples.ts';

/** The commands to try against the server behind the aggregation layer of the local cluster. */
export function localAnnouncement(facts: {
  names: Names;
  /** Whether pods run. */
  isSimulated: boolean;
  /** The command that loads the environment file. */
  loadEnvironment: string;
  server: DevelopmentServer;
  logs: string;
  state: string;
  /** The clone, because the other terminal may be in any folder. */
  root: string;
}): string {
  const { names, server } = facts;
  const npm = `npm --prefix ${shellWord(facts.root)}`;
  const nodes = `nodes.${groupName(names.platform)}`;
  const path = `/apis/${groupName(names.platform)}/${VERSION}/nodes`;
  const logs = logsPath(names);
  const lists = listsPath(names);
  // kubectl prefers the client certificate of a kubeconfig to a token.
  const bare = 'kubectl --kubeconfig /dev/null --server "$BASE" --certificate-authority "$CA"';
  const kubeconfig = shellWord(join(facts.state, 'ada.kubeconfig'));
  return [
    'In another terminal, load BASE, CA, KUBECONFIG and PATH, which all examples of the documents use:',
    '',
    `  ${facts.loadEnvironment}`,
    '',
    'Nodes, through the aggregation layer of kube-apiserver:',
    '',
    `  kubectl get ${nodes}`,
    `  kubectl get ${nodes} -o wide --watch`,
    `  kubectl explain nodes --api-version ${groupName(names.platform)}/${VERSION}`,
    `  kubectl get --raw '${path}?limit=1'`,
    '',
    'Logs of the simulated pods: the newest lines that contain a word, and a live tail:',
    '',
    `  kubectl get --raw '${logs}?namespaces=payments&log_query=order&size=3'`,
    `  kubectl get --raw '${logs}?follow=true&watch=true&namespaces=shop'`,
    '',
    'The simulated lines are older than their namespaces. A caller with permissions in single namespaces sees only lines',
    'written after the creation of the namespace; a caller with permission for all logs, like this kubeconfig, sees all.',
    '',
    'Directly, as a ServiceAccount with permission to read nodes and logs. The gateway forwards the API of kube-apiserver:',
    '',
    `  TOKEN=$(kubectl -n ${names.namespace} create token ${DEVELOPER})`,
    `  ${bare} --token "$TOKEN" get pods --all-namespaces`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$BASE${path}?limit=1"`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$BASE${lists}/nodes?status=running&sortBy=name&limit=1"`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$BASE/metrics"`,
    `  ${CURL} "$BASE/readyz?verbose"`,
    '',
    'Lists of any kind: the crash-looping pods of a namespace, and everything called cart:',
    '',
    `  LISTS="$BASE${lists}"`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$LISTS/namespaces/shop/pods?status=CrashLoopBackOff"`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$LISTS/search?q=cart"`,
    '',
    `The pods by namespace, as a tenant with access to ${TENANT.namespaces.join(' and ')}:`,
    '',
    `  TENANT=$(kubectl -n ${names.namespace} create token ${TENANT.name})`,
    `  ${CURL} -H "Authorization: Bearer $TENANT" "$LISTS/pods?facets=namespace,status&limit=0"`,
    '',
    'As a user of the platform, here an administrator. kube-apiserver accepts the tokens about ten seconds from now:',
    '',
    `  printf 'correct horse' | ${npm} run --silent user -- create ada --group ${administratorsGroup(names.platform)}`,
    `  TOKEN=$(${CURL} -sS "$BASE/oauth/token" -d grant_type=password -d username=ada -d 'password=correct horse' -d client_id=${names.platform} -d client_secret=${names.platform} | cut -d '"' -f 4)`,
    `  ${bare} --token "$TOKEN" auth whoami`,
    '',
    'The same user signs in with a browser. The first call builds kubelogin in a minute, if it is not installed:',
    '',
    `  ${npm} run --silent kubeconfig -- --issuer "$BASE/oauth" --certificate-authority "$CA" > ${kubeconfig}`,
    `  kubectl --kubeconfig ${kubeconfig} get pods --all-namespaces`,
    `  kubectl --kubeconfig ${kubeconfig} get ${nodes}`,
    '',
    ...(facts.isSimulated ? [] : WITHOUT_CONTROLLERS),
    `API page for the browser: https://127.0.0.1:${server.ports.secure}/openapi/page`,
    `Logs: ${facts.logs}`,
    `State: ${facts.state} (delete it to start from scratch)`,
    'Ctrl-C stops everything.',
  ].join('\n');
}

/** The commands to try against a server for an existing cluster, in which the server is not registered. */
export function existingAnnouncement(facts: { names: Names; loadEnvironment: string; log: string }): string {
  const { names } = facts;
  const nodes = `nodes.${groupName(names.platform)}`;
  const kubectl = 'kubectl --server "$BASE" --certificate-authority "$CA"';
  return [
    'The cluster was not changed: no APIService was registered, because its kube-apiserver cannot reach this machine.',
    'The cluster authenticates callers (TokenReview) and authorizes them by its RBAC (SubjectAccessReview).',
    'In another terminal, load BASE, CA and KUBECONFIG, then call the server as the user of the kubeconfig:',
    '',
    `  ${facts.loadEnvironment}`,
    `  ${kubectl} get ${nodes}`,
    `  ${kubectl} get --raw '/apis/${groupName(names.platform)}/${VERSION}/nodes?limit=1'`,
    `  ${kubectl} get --raw '${logsPath(names)}?size=3'`,
    `  ${kubectl} get --raw '${listsPath(names)}/pods?facets=status&sortBy=restarts&limit=1'`,
    `  ${CURL} "$BASE/readyz?verbose"`,
    '',
    `Log: ${facts.log}`,
    'Ctrl-C stops the server.',
  ].join('\n');
}

const WITHOUT_CONTROLLERS = [
  'No pods run, and deleted namespaces stay: KUBEBUILDER_ASSETS has no controllers and no KWOK. Without this variable,',
  'npm start builds them.',
  '',
];

const CURL = 'curl --cacert "$CA"';

function listsPath({ platform }: Names): string {
  return `/kapis/${groupName(platform)}/${VERSION}`;
}

function logsPath({ platform }: Names): string {
  return `/apis/${loggingGroup(platform)}/${LOGGING_VERSION}/logs`;
}
