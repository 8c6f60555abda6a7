/**
 * An index template for log records as fluent-bit writes them, for `PUT /_index_template/NAME`. Beside what dynamic
 * mapping would give, it keeps the order within a millisecond, finds parts of words, and takes labels such as
 * `app` and `app.kubernetes.io/name` of one pod, which would be an object and a string in one place otherwise.
 */
export function indexTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithParts('line'), labels: 'flat_object', analysis: ANALYSIS });
}

/** The same for an OpenSearch 3 that lacks the module for filters of characters: it can do without this one. */
export function unfilteredTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithParts(), labels: 'flat_object' });
}

/** The same for an Elasticsearch that has no fields of type wildcard: words only. */
export function wordsTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: { type: 'text' }, labels: 'flattened' });
}

/** Where parts of words are found, too. */
function lineWithParts(normalizer?: string): object {
  // With values of documents, which OpenSearch 3 keeps unless it is told, it refuses lines of 32 KiB and more.
  const wildcard = { type: 'wildcard', doc_values: false, ...(normalizer && { normalizer }) };
  return { type: 'text', fields: { wildcard } };
}

/** OpenSearch 2 never comes to the end of some lines with a NUL, such as `abc\0d`: a thread that writes is lost to each. */
const ANALYSIS = {
  char_filter: { nul: { type: 'mapping', mappings: ['\\u0000 => \\ufffd'] } },
  normalizer: { line: { type: 'custom', char_filter: ['nul'] } },
};

interface Parts {
  /** The field of the line. */
  readonly log: object;
  /** The type of labels and annotations. */
  readonly labels: string;
  readonly analysis?: object;
}

function template(indexPrefix: string, { log, labels, analysis }: Parts): object {
  return {
    index_patterns: [`${indexPrefix}-*`],
    priority: 100,
    template: {
      settings: { number_of_shards: 1, auto_expand_replicas: '0-1', ...(analysis && { analysis }) },
      mappings: {
        dynamic_templates: [
          {
            kubernetes: {
              path_match: 'kubernetes.*',
              match_mapping_type: 'string',
              mapping: { type: 'keyword', ignore_above: 1024 },
            },
          },
        ],
        properties: {
          time: { type: 'date_nanos' },
          log,
          stream: { type: 'keyword' },
          kubernetes: {
            properties: {
              ...Object.fromEntries(KEYWORDS.map((name) => [name, { type: 'keyword' }])),
              labels: { type: labels },
              annotations: { type: labels },
            },
          },
        },
      },
    },
  };
}

const KEYWORDS = [
  'namespace_name',
  'pod_name',
  'pod_id',
  'container_name',
  'container_image',
  'docker_id',
  'host',
] as const;
