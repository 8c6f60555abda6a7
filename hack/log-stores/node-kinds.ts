// The nodes that can be started: OpenSearch and Elasticsearch in the versions that the server promises to understand.
// The sources of each are in its folder in nodes/.
import { join } from 'node:path';
import type { JavaRange } from './java.ts';

export interface NodeKind {
  /** Its folder in nodes/. */
  readonly name: string;
  /** As messages call it. */
  readonly title: string;
  readonly java: JavaRange;
  /** What Maven has to fetch for it, about. */
  readonly megabytes: number;
}

export const NODES = join(import.meta.dirname, 'nodes');

export const OPENSEARCH_2: NodeKind = {
  name: 'opensearch-2',
  title: 'OpenSearch 2',
  // Since 24 there is no security manager any more, which it still asks for.
  java: { oldest: 17, newest: 23 },
  megabytes: 50,
};

/** With the plugin that most have: TLS, users and roles. How it is to be started stands in security.ts. */
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

/** Without what Elastic does not publish on Maven Central, such as fields of type wildcard. */
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
