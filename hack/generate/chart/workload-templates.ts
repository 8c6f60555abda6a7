// Templates of the pods and of what they mount: the objects of the kustomize base, with the values of the chart.
import { array, record } from '../../../apis/reading/unknown-value.ts';
import { configuration } from '../configuration.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { SERVER } from '../names.ts';
import { CONFIGURATION, deployment, LABELS } from '../workload.ts';
import {
  block,
  changed,
  each,
  inserted,
  itemsWhen,
  membersOf,
  optional,
  TEMPLATE_NAMES,
  value,
  when,
} from './template.ts';

const { namespace } = TEMPLATE_NAMES;

/** Where the pods see the serving certificate, and the additional CAs. */
const TLS = { volume: 'tls', directory: '/etc/ks-apiserver-tls' } as const;
const TRUST = {
  volume: 'trusted-cas',
  configMap: `${SERVER}-trusted-cas`,
  directory: '/etc/ks-apiserver-trusted-cas',
  file: 'ca.crt',
} as const;

const HAS_TLS = 'include "ks-apiserver.tlsSecret" .';
export const HAS_TRUST = '.Values.trustedCAs';

export function deploymentTemplate(): KubernetesObject {
  return changed(deployment(TEMPLATE_NAMES), {
    'spec.replicas': () => value('.Values.replicas'),
    'spec.template.metadata.annotations': (annotations) => ({
      ...record(annotations),
      // The server reads both only when it starts.
      'checksum/configuration': inserted('include "ks-apiserver.configuration" . | sha256sum'),
      ...when(HAS_TRUST, { 'checksum/trusted-cas': inserted('.Values.trustedCAs | sha256sum') }),
      ...membersOf('.Values.podAnnotations'),
    }),
    'spec.template.spec.priorityClassName': () => value('.Values.priorityClassName'),
    'spec.template.spec.affinity': (affinity) => ({
      ...when('not .Values.affinity', record(affinity)),
      ...membersOf('.Values.affinity'),
    }),
    'spec.template.spec.containers': (containers) => [containerTemplate(record(array(containers)[0]))],
    'spec.template.spec.volumes': (volumes) => [
      ...array(volumes),
      ...itemsWhen(HAS_TLS, [{ name: TLS.volume, secret: { secretName: value(HAS_TLS) } }]),
      ...itemsWhen(HAS_TRUST, [{ name: TRUST.volume, configMap: { name: TRUST.configMap } }]),
      ...each('.Values.volumes'),
    ],
    'spec.template.spec': (spec) => ({
      ...record(spec),
      ...when('.Values.image.pullSecrets', {
        imagePullSecrets: each('.Values.image.pullSecrets', { name: value('.') }),
      }),
      ...optional('nodeSelector', '.Values.nodeSelector'),
      ...optional('tolerations', '.Values.tolerations'),
      ...optional('topologySpreadConstraints', '.Values.topologySpreadConstraints'),
    }),
  });
}

function containerTemplate(container: Readonly<Record<string, unknown>>): object {
  const { image: _, ...rest } = container;
  const { name, ...others } = changed(rest, {
    env: (variables) => [
      ...array(variables),
      ...itemsWhen(HAS_TRUST, [{ name: 'NODE_EXTRA_CA_CERTS', value: `${TRUST.directory}/${TRUST.file}` }]),
    ],
    ports: (ports) => {
      const [secure, insecure] = array(ports);
      return [secure, ...itemsWhen('.Values.plainHTTP', [insecure])];
    },
    resources: () => value('.Values.resources'),
    volumeMounts: (mounts) => [
      ...array(mounts),
      ...itemsWhen(HAS_TLS, [{ name: TLS.volume, mountPath: TLS.directory, readOnly: true }]),
      ...itemsWhen(HAS_TRUST, [{ name: TRUST.volume, mountPath: TRUST.directory, readOnly: true }]),
      ...each('.Values.volumeMounts'),
    ],
  });
  return { name, ...imageMembers(), ...others };
}

/** The image, for the pods and for `helm test`. */
export function imageMembers(): object {
  return {
    image: value('include "ks-apiserver.image" .'),
    imagePullPolicy: value('.Values.image.pullPolicy'),
  };
}

/** What the chart sets in the configuration; the schema of the values rejects these options in `configuration`. */
export function configurationTemplate(): object {
  return {
    ...changed(configuration(TEMPLATE_NAMES), {
      'oauth.issuer': () => value('include "ks-apiserver.issuer" .'),
      'listeners.secure': (secure) => ({
        ...record(secure),
        ...when(HAS_TLS, {
          certFile: `${TLS.directory}/tls.crt`,
          keyFile: `${TLS.directory}/tls.key`,
          ...when('.Values.certificates.hasCA', { caFile: `${TLS.directory}/ca.crt` }),
        }),
      }),
      'listeners.insecure': (insecure) => ({
        enabled: value('.Values.plainHTTP'),
        ...when('.Values.plainHTTP', { port: record(insecure)['port'] }),
      }),
    }),
    gateway: { impersonation: value('.Values.impersonation.callers') },
  };
}

export function configMapTemplate(): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CONFIGURATION.configMap, namespace },
    data: { [CONFIGURATION.file]: block('include "ks-apiserver.configuration" .') },
  };
}

export function trustTemplate(): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: TRUST.configMap, namespace, labels: LABELS },
    data: { [TRUST.file]: value(HAS_TRUST) },
  };
}
