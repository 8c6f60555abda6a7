// Lists the supported versions of OpenSearch and Elasticsearch. The folder nodes/ contains the build files of each
// version.
import { join } from 'node:path';
import type { JavaRange } from '../java/java.ts';

export interface NodeKind {
  /** Its folder in nodes/. */
  readonly name: string;
  /** Name in messages. */
  readonly title: string;
  readonly java: JavaRange;
  /** Approximate size of the Maven downloads. */
  readonly megabytes: number;
}

export const NODES = join(import.meta.dirname, 'nodes');

export const OPENSEARCH_2: NodeKind = {
  name: 'opensearch-2',
  title: 'OpenSearch 2',
  // OpenSearch 2 needs the security manager, which Java 24 removed.
  java: { oldest: 17, newest: 23 },
  megabytes: 50,
};

/** With the security plugin: TLS, users and roles. security.ts configures it. */
export const OPENSEARCH_2_SECURITY: NodeKind = {
  name: 'opensearch-2-security',
  title: 'OpenSearch 2 with security',
  java: OPENSEARCH_2.java,
  megabytes: 95,
};

export const OPENSEARCH_3: NodeKind = {
  name: 'opensearch-3',
  title: 'OpenSearch 3',
  java: { oldest: 21 },
  megabytes: 65,
};

/** Without the parts that are not on Maven Central, such as the field type `wildcard`. */
export const ELASTICSEARCH_8: NodeKind = {
  name: 'elasticsearch-8',
  title: 'Elasticsearch 8',
  java: { oldest: 17 },
  megabytes: 45,
};

export const NODE_KINDS: readonly NodeKind[] = [
  OPENSEARCH_2,
  OPENSEARCH_2_SECURITY,
  OPENSEARCH_3,
  ELASTICSEARCH_8,
];
