// Templates of what only the chart creates: Ingress, routes of the Gateway API, and the Certificate of cert-manager.

import { array, record } from '../../../apis/reading/unknown-value.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { SERVER } from '../names.ts';
import { service } from '../registration.ts';
import { LABELS } from '../workload.ts';
import { changed, each, itemsWhen, optional, TEMPLATE_NAMES, value } from './template.ts';

const { namespace } = TEMPLATE_NAMES;
/** The name in the certificate that kube-apiserver verifies. */
const SERVICE_NAME = `${SERVER}.${namespace}.svc`;
const SECURE_SERVICE_PORT = 443;

export function serviceTemplate(): KubernetesObject {
  return changed(service(TEMPLATE_NAMES), {
    metadata: (metadata) => ({ ...record(metadata), ...annotations('service') }),
    'spec.ports': (ports) => {
      const [secure, insecure] = array(ports);
      const port = { ...record(secure), ...optional('nodePort', '.Values.service.nodePort') };
      return [port, ...itemsWhen('.Values.plainHTTP', [insecure])];
    },
    spec: (spec) => ({ type: value('.Values.service.type'), ...record(spec) }),
  });
}

export function ingressTemplate(): KubernetesObject {
  const host = value(required('ingress', 'host'));
  const backend = { service: { name: SERVER, port: { number: SECURE_SERVICE_PORT } } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: SERVER, namespace, labels: LABELS, ...annotations('ingress') },
    spec: {
      ...optional('ingressClassName', '.Values.ingress.className'),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      tls: [{ hosts: [host], ...optional('secretName', '.Values.ingress.tlsSecretName') }],
    },
  };
}

export function routeTemplate(): KubernetesObject {
  return {
    // TLSRoute has the version v1 since Gateway API 1.5.
    apiVersion: value(
      'ternary "gateway.networking.k8s.io/v1alpha2" "gateway.networking.k8s.io/v1" (and (eq .Values.route.kind "TLSRoute") (not (.Capabilities.APIVersions.Has "gateway.networking.k8s.io/v1/TLSRoute")))',
    ),
    kind: value('.Values.route.kind'),
    metadata: { name: SERVER, namespace, labels: LABELS, ...annotations('route') },
    spec: {
      parentRefs: value(required('route', 'parentRefs')),
      hostnames: [value(required('route', 'host'))],
      rules: [{ backendRefs: [{ name: SERVER, port: SECURE_SERVICE_PORT }] }],
    },
  };
}

/** Lets the Gateway connect with TLS, and verify the certificate of the server. */
export function backendTLSPolicyTemplate(): KubernetesObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'BackendTLSPolicy',
    metadata: { name: SERVER, namespace, labels: LABELS },
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: SERVER, sectionName: 'https' }],
      validation: {
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: value(required('route', 'caConfigMap')) }],
        hostname: SERVICE_NAME,
      },
    },
  };
}

export function certificateTemplate(): KubernetesObject {
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: SERVER, namespace, labels: LABELS },
    spec: {
      secretName: value('include "ks-apiserver.tlsSecret" .'),
      issuerRef: value('.Values.certificates.issuerRef'),
      dnsNames: [
        SERVICE_NAME,
        ...itemsWhen('ne (include "ks-apiserver.host" .) (include "ks-apiserver.serviceName" .)', [
          value('include "ks-apiserver.host" .'),
        ]),
        ...each('.Values.certificates.dnsNames'),
      ],
      usages: ['digital signature', 'server auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    },
  };
}

function annotations(section: string): object {
  return optional('annotations', `.Values.${section}.annotations`);
}

function required(section: string, name: string): string {
  return `required "${section}.enabled requires ${section}.${name}" (.Values.${section}.${name} | default "")`;
}
