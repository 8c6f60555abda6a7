// Creates the recommended OpenSearch index templates for Fluent Bit.

/** Returns the recommended OpenSearch index template for Fluent Bit: the body of `PUT /_index_template/NAME`. */
export function indexTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithSubfield('line'), labels: 'flat_object', analysis: ANALYSIS });
}

/** Template without `char_filter`, for OpenSearch 3 without the module analysis-common: version 3 does not need the filter. */
export function unfilteredTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: lineWithSubfield(), labels: 'flat_object' });
}

/** Template without fields of the type `wildcard`, for Elasticsearch without this type. It supports only word matches. */
export function wordsTemplate(indexPrefix: string): object {
  return template(indexPrefix, { log: { type: 'text' }, labels: 'flattened' });
}

/** Text with a subfield for substrings and regular expressions. */
function lineWithSubfield(normalizer?: string): object {
  // With doc_values, the default of OpenSearch 3, lines of 32 KiB and more are rejected.
  const wildcard = { type: 'wildcard', doc_values: false, ...(normalizer && { normalizer }) };
  return { type: 'text', fields: { wildcard } };
}

/** Replaces NUL characters: otherwise a line such as `abc\0d` blocks a write thread of OpenSearch 2 forever. */
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
          // Preserves the order of records within a millisecond, unlike `date`, the type in dynamic mapping.
          time: { type: 'date_nanos' },
          log,
          stream: { type: 'keyword' },
          kubernetes: {
            properties: {
              ...Object.fromEntries(KEYWORDS.map((name) => [name, { type: 'keyword' }])),
              // Dynamic mapping rejects pods with both labels `app` and `app.kubernetes.io/name`: the field `app` would be a
              // string and an object.
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
