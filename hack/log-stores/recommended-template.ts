/**
 * An index template for log records of Fluent Bit, for `PUT /_index_template/NAME`. Compared with dynamic mapping, it keeps
 * the order within a millisecond, supports regular expressions, and accepts the labels `app` and `app.kubernetes.io/name`
 * on one pod, which dynamic mapping maps to a string and to an object.
 */
export function indexTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithSubfield('line'), labels: 'flat_object', analysis: ANALYSIS });
}

/** For an OpenSearch 3 without the module analysis-common, which does not need the `char_filter`. */
export function unfilteredTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithSubfield(), labels: 'flat_object' });
}

/** For an Elasticsearch without fields of type wildcard: words only. */
export function wordsTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: { type: 'text' }, labels: 'flattened' });
}

/** Text with a subfield for substrings and regular expressions. */
function lineWithSubfield(normalizer?: string): object {
  // With doc_values, the default of OpenSearch 3, lines of 32 KiB and more are rejected.
  const wildcard = { type: 'wildcard', doc_values: false, ...(normalizer && { normalizer }) };
  return { type: 'text', fields: { wildcard } };
}

/** Without it, a line with a NUL such as `abc\0d` blocks a write thread of OpenSearch 2 for good. */
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
