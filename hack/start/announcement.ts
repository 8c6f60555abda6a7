// Creates the text that `npm start` prints after the server is ready: example commands, and the address to open.
import { styleText } from 'node:util';
import {
  VERSION as LOGGING_VERSION,
  groupName as loggingGroup,
} from '../../apis/logging/v1alpha2/group-version.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Names } from '../generate/names.ts';
import type { Administrator } from './administrator.ts';
import type { DevelopmentServer } from './development-server.ts';
import { DEVELOPER } from './examples.ts';

/** The page of the server that a new user opens first. */
const FIRST_PAGE = '/explore';

/** Some commands to try, and at the end the address to open and the user to sign in with. */
export function localAnnouncement(facts: {
  names: Names;
  /** Whether pods run. */
  isSimulated: boolean;
  /** The command that loads the environment file. */
  loadEnvironment: string;
  server: DevelopmentServer;
  administrator: Administrator;
  logs: string;
  state: string;
}): string {
  const { names, server, administrator } = facts;
  const replace = `${facts.loadEnvironment} && npm run user -- password ${administrator.name}`;
  const yours = `the one that you have set; to replace it: ${replace}`;
  const list = facts.isSimulated ? 'namespaces/shop/pods?status=CrashLoopBackOff' : 'nodes?limit=1';
  return [
    'For the examples of the documents, load BASE, CA, KUBECONFIG and PATH in another terminal:',
    '',
    `  ${facts.loadEnvironment}`,
    `  kubectl get nodes.${groupName(names.platform)}`,
    ...(facts.isSimulated
      ? [`  kubectl get --raw '${logsPath(names)}?namespaces=payments&log_query=order&size=3'`]
      : []),
    `  TOKEN=$(kubectl -n ${names.namespace} create token ${DEVELOPER})`,
    `  ${CURL} -H "Authorization: Bearer $TOKEN" "$BASE${listsPath(names)}/${list}"`,
    '',
    ...(facts.isSimulated ? [] : WITHOUT_CONTROLLERS),
    `Logs: ${facts.logs}`,
    `State: ${facts.state} (delete it to start from scratch)`,
    'Ctrl-C stops everything.',
    '',
    'Open this address and sign in. The browser warns about the certificate: continue, or let it trust the authority',
    server.caFile,
    '',
    `User:     ${administrator.name}`,
    `Password: ${administrator.password ?? yours}`,
    styleText(['bold', 'underline'], `https://127.0.0.1:${server.ports.secure}${FIRST_PAGE}`),
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
