import { dirname } from 'node:path';
import { administratorsGroup } from '../../apis/iam/v1beta1/administrators.ts';
import {
  VERSION as LOGGING_VERSION,
  groupName as loggingGroup,
} from '../../apis/logging/v1alpha2/group-version.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Names } from '../generate/names.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { DEVELOPER } from './developer.ts';
import type { DevelopmentServer } from './development-server.ts';

/** What to type now, for the server behind the aggregation layer of the local cluster. */
export function localAnnouncement(facts: {
  names: Names;
  kubeconfig: string;
  kubectl: string;
  apiserver: { readonly url: string; readonly caFile: string };
  server: DevelopmentServer;
  logs: string;
  state: string;
  /** The clone: the other terminal may be anywhere. */
  root: string;
}): string {
  const { names, server } = facts;
  const npm = `npm --prefix ${shellWord(facts.root)}`;
  const nodes = `nodes.${groupName(names.platform)}`;
  const path = `/apis/${groupName(names.platform)}/${VERSION}/nodes`;
  const logs = logsPath(names);
  const curl = curlWith(server, process.env);
  const direct = `https://127.0.0.1:${server.ports.secure}`;
  // The client certificate of the kubeconfig would go before a token.
  const bare = [
    'kubectl',
    '--kubeconfig /dev/null',
    `--server ${facts.apiserver.url}`,
    `--certificate-authority ${shellWord(facts.apiserver.caFile)}`,
  ].join(' ');
  return [
    'In another terminal:',
    '',
    `  export KUBECONFIG=${shellWord(facts.kubeconfig)} PATH=${shellWord(dirname(facts.kubectl))}:$PATH`,
    '',
    'Through the aggregation layer of kube-apiserver:',
    '',
    `  kubectl get ${nodes}`,
    `  kubectl get ${nodes} -o wide --watch`,
    `  kubectl explain nodes --api-version ${groupName(names.platform)}/${VERSION}`,
    `  kubectl get --raw '${path}?limit=1'`,
    '',
    'Logs of the simulated pods: the newest lines with a word, and a live tail:',
    '',
    `  kubectl get --raw '${logs}?log_query=level&size=3'`,
    `  kubectl get --raw '${logs}?follow=true&watch=true&namespaces=shop'`,
    '',
    'Their lines reach back further than their namespaces. Who may read logs in single namespaces only is shown what was',
    'written since these were made, at the first start; who may read all, like this kubeconfig, is shown everything.',
    '',
    'Straight to the server, as a service account that may read nodes and logs:',
    '',
    `  TOKEN=$(kubectl -n ${names.namespace} create token ${DEVELOPER})`,
    `  ${curl} -H "Authorization: Bearer $TOKEN" '${direct}${path}?limit=1'`,
    `  ${curl} -H "Authorization: Bearer $TOKEN" '${direct}/k${path.slice(1)}?status=running&sortBy=name&limit=1'`,
    `  ${curl} -H "Authorization: Bearer $TOKEN" ${direct}/metrics`,
    `  ${curl} '${direct}/readyz?verbose'`,
    '',
    'With a user of the platform, an administrator here. Some ten seconds from now kube-apiserver takes the token as well,',
    'but not from a kubeconfig like this one, whose client certificate would go before it:',
    '',
    `  printf 'correct horse' | ${npm} run --silent user -- create ada --group ${administratorsGroup(names.platform)}`,
    `  TOKEN=$(${curl} -sS ${direct}/oauth/token -d grant_type=password -d username=ada -d 'password=correct horse' -d client_id=${names.platform} -d client_secret=${names.platform} | cut -d '"' -f 4)`,
    `  ${bare} --token "$TOKEN" auth whoami`,
    '',
    `The APIs in a browser, to read and to try: ${direct}/openapi/page`,
    `Logs: ${facts.logs}`,
    `State: ${facts.state} (remove it to begin anew)`,
    'Ctrl-C stops everything.',
  ].join('\n');
}

/** The same for a cluster that knows nothing of the server. */
export function existingAnnouncement(facts: {
  names: Names;
  kubeconfig: string;
  server: DevelopmentServer;
  log: string;
}): string {
  const { names, server } = facts;
  const nodes = `nodes.${groupName(names.platform)}`;
  const direct = `https://127.0.0.1:${server.ports.secure}`;
  const kubectl = [
    'kubectl',
    `--kubeconfig ${shellWord(facts.kubeconfig)}`,
    `--server ${direct}`,
    `--certificate-authority ${shellWord(server.caFile)}`,
  ].join(' ');
  return [
    'Nothing in the cluster was changed: no APIService was registered, because its kube-apiserver cannot reach',
    'this machine. Callers are checked by the cluster (token and access reviews), and what they may do is its RBAC.',
    'Straight to the server, as the user of the kubeconfig:',
    '',
    `  ${kubectl} get ${nodes}`,
    `  ${kubectl} get --raw '/apis/${groupName(names.platform)}/${VERSION}/nodes?limit=1'`,
    `  ${kubectl} get --raw '${logsPath(names)}?size=3'`,
    `  ${curlWith(server, process.env)} '${direct}/readyz?verbose'`,
    '',
    `Log: ${facts.log}`,
    'Ctrl-C stops the server.',
  ].join('\n');
}

/** curl is the only one that asks a proxy for this machine's own addresses as well. */
function curlWith({ caFile }: Pick<DevelopmentServer, 'caFile'>, env: NodeJS.ProcessEnv): string {
  const proxies = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  const past = proxies.some((name) => env[name]) ? ' --noproxy 127.0.0.1' : '';
  return `curl${past} --cacert ${shellWord(caFile)}`;
}

function logsPath({ platform }: Names): string {
  return `/apis/${loggingGroup(platform)}/${LOGGING_VERSION}/logs`;
}
