// Types of docs/openapi/platform.json. Generated: npm run generate.

/** The error response of all paths of Kubernetes and of the platform. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: {
    /** For an expired continue token: a token that continues at the current resourceVersion. */
    continue?: string;
  };
  status: 'Success' | 'Failure';
  /** A description for people. */
  message: string;
  /** A reason for programs. */
  reason?: 'BadRequest' | 'Unauthorized' | 'Forbidden' | 'NotFound' | 'MethodNotAllowed' | 'NotAcceptable' | 'Conflict' | 'AlreadyExists' | 'Gone' | 'Expired' | 'Invalid' | 'RequestEntityTooLarge' | 'UnsupportedMediaType' | 'TooManyRequests' | 'InternalError' | 'ServiceUnavailable' | 'Timeout';
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: {
      reason?: string;
      message: string;
      /** The invalid parameter or member of the body. */
      field?: string;
    }[];
    /** Also sent as the header Retry-After. */
    retryAfterSeconds?: number;
  };
  /** The HTTP status. */
  code: number;
}

/** A page of objects. */
export interface ResourceList {
  /** The kind of the objects with the suffix `List`. */
  kind: string;
  apiVersion: string;
  metadata: {
    resourceVersion: string;
  };
  /** The objects of the page. */
  items: Resource[];
  /** The columns of the kind, if the query requests them. */
  columns?: {
    name: string;
    /** `string`, `integer`, `number`, `boolean` or `date`. A date is a timestamp of RFC 3339; if that of the object is none, the text `<invalid>` or `<unknown>`. */
    type: string;
    /** A format of Kubernetes, `status` for the status of the object, or `bytes`; can be empty. */
    format: string;
    description: string;
    /** 0 for columns that are always shown. */
    priority: number;
    /** The value of `sortBy`; missing if lists cannot be sorted by the column. */
    sortKey?: string;
  }[];
  /** The values of the columns: one row for each object of `items`. A value is null if the object has none. */
  cells?: ((string | number | boolean | null)[])[];
  /** The number of objects on all pages. */
  totalItems: number;
  /** Counts by value, for each facet of the query. */
  facets?: Record<string, Record<string, number>>;
  /** The caller has no permission to list the kind in the other namespaces, which the list does not include. */
  partial?: true;
}

/** An object of the cluster, with all members that it has in Kubernetes. */
export interface Resource {
  kind: string;
  apiVersion: string;
  /** ObjectMeta of Kubernetes; further members exist. */
  metadata: {
    name: string;
    namespace?: string;
    /** The path of the object. */
    selfLink: string;
    uid: string;
    /** The resourceVersion of the cluster. */
    resourceVersion: string;
    creationTimestamp: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** The matches of a text by kind. */
export interface SearchResult {
  kind: 'SearchResult';
  apiVersion: string;
  /** The kinds that were searched. */
  kinds: string[];
  /** The number of matches of all kinds. */
  totalItems: number;
  /** The kinds with matches, the kind with the best match first. */
  groups: {
    /** The kind, as `plural` or `plural.group`. */
    resource: string;
    kind: string;
    apiVersion: string;
    totalItems: number;
    partial?: true;
    /** The best matches, the best first. */
    items: {
      /** What the text matches: the name, its start, the start of a word in it, or another text. */
      match: 'name' | 'prefix' | 'word' | 'text';
      metadata: {
        name: string;
        namespace?: string;
        uid: string;
        creationTimestamp: string;
        /** The path of the object. */
        selfLink: string;
      };
      alias?: string;
      status?: string;
    }[];
  }[];
}

export interface LogQueryAnswer {
  /** A page of lines. */
  query: {
    /** Number of matching lines. */
    total: number;
    /** `eq`: the total is exact; `gte`: the total is a lower bound. */
    totalRelation: 'eq' | 'gte';
    /** Namespaces of the query whose logs the caller is allowed to read. Absent for a caller who is allowed to read all logs. */
    scope?: {
      /** Number of these namespaces. */
      total: number;
      /** The first 20 by name. */
      namespaces: string[];
    };
    /** Lines of the page. */
    records: {
      /** The line as written by the container. */
      log: string;
      /** RFC 3339 in UTC with nine fractional digits. */
      time: string;
      /** Namespace of the pod. */
      namespace: string;
      /** Name of the pod. */
      pod: string;
      /** Name of the container. */
      container: string;
      /** Identifies the record, for `context`. */
      id: string;
      /** Begin and exclusive end of each match, in UTF-16 code units. */
      highlights?: ([number, number])[];
      /** Most severe level of the line. Present with `severity=true`. */
      severity?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'none';
    }[];
    /** Cursor of the next page; absent on the last page. */
    cursor?: string;
  };
  /** Duration of the query in milliseconds. */
  took: number;
  /** Present if the result is partial. */
  partial?: {
    /** Machine-readable reason. */
    reason: 'Timeout' | 'ShardFailed' | 'NotCovered' | 'Limit' | 'StoreFailed' | 'ScopeChanged';
    /** Human-readable description of what is missing. */
    message: string;
  }[];
}

export interface LogStatisticsAnswer {
  /** Number of lines and of their containers. */
  statistics: {
    /** Number of distinct containers of the lines. */
    containers: number;
    /** True if the number of containers is an estimate. */
    containersApproximate?: boolean;
    /** Number of matching lines. */
    logs: number;
    /** `eq`: the total is exact; `gte`: the total is a lower bound. */
    logsRelation: 'eq' | 'gte';
  };
  /** Duration of the query in milliseconds. */
  took: number;
  /** Present if the result is partial. */
  partial?: {
    /** Machine-readable reason. */
    reason: 'Timeout' | 'ShardFailed' | 'NotCovered' | 'Limit' | 'StoreFailed' | 'ScopeChanged';
    /** Human-readable description of what is missing. */
    message: string;
  }[];
}

export interface LogHistogramAnswer {
  /** Number of lines by time. */
  histogram: {
    /** Number of matching lines. */
    total: number;
    /** `eq`: the total is exact; `gte`: the total is a lower bound. */
    totalRelation: 'eq' | 'gte';
    /** Buckets in the order of time, including empty ones. */
    histograms: {
      /** Start of the bucket, in milliseconds since the epoch. */
      time: number;
      /** Number of lines in the bucket. */
      count: number;
      /** Number of lines by most severe level. Present with `severity=true`. */
      severities?: {
        /** Number of lines with the most severe level `fatal`. */
        fatal: number;
        /** Number of lines with the most severe level `error`. */
        error: number;
        /** Number of lines with the most severe level `warn`. */
        warn: number;
        /** Number of lines with the most severe level `info`. */
        info: number;
        /** Number of lines with the most severe level `debug`. */
        debug: number;
        /** Number of lines without a level. */
        none: number;
      };
    }[];
  };
  /** Duration of the query in milliseconds. */
  took: number;
  /** Present if the result is partial. */
  partial?: {
    /** Machine-readable reason. */
    reason: 'Timeout' | 'ShardFailed' | 'NotCovered' | 'Limit' | 'StoreFailed' | 'ScopeChanged';
    /** Human-readable description of what is missing. */
    message: string;
  }[];
}

export interface TokenResponse {
  /** Access token, for the header `Authorization: Bearer`. */
  access_token: string;
  token_type: 'Bearer';
  /** Refresh token. Each refresh returns a new one, unless the client has `refreshTokens: kept`. */
  refresh_token?: string;
  /** Seconds until the access token expires. */
  expires_in: number;
  /** The granted scopes. */
  scope?: string;
  /** ID token, with scope openid. */
  id_token?: string;
}

/** OpenID Connect Discovery 1.0, 3 and RFC 8414, 2. */
export interface ServerMetadata {
  issuer: string;
  jwks_uri: string;
  authorization_endpoint?: string;
  pushed_authorization_request_endpoint?: string;
  token_endpoint?: string;
  userinfo_endpoint?: string;
  revocation_endpoint?: string;
  introspection_endpoint?: string;
  device_authorization_endpoint?: string;
  end_session_endpoint?: string;
  backchannel_logout_supported?: boolean;
  backchannel_logout_session_supported?: boolean;
  scopes_supported: string[];
  response_types_supported: string[];
  response_modes_supported?: string[];
  grant_types_supported: string[];
  subject_types_supported: string[];
  id_token_signing_alg_values_supported: string[];
  token_endpoint_auth_methods_supported?: string[];
  revocation_endpoint_auth_methods_supported?: string[];
  introspection_endpoint_auth_methods_supported?: string[];
  code_challenge_methods_supported?: string[];
  acr_values_supported?: string[];
  prompt_values_supported?: string[];
  authorization_response_iss_parameter_supported?: boolean;
  claims_supported: string[];
  claims_parameter_supported: boolean;
  request_parameter_supported: boolean;
  request_uri_parameter_supported: boolean;
}

/** Parameters of a query. */
export interface ListParameters {
  /** The page number. A page after the last one has no items. */
  readonly page?: number | undefined;
  /** Objects per page. `-1` returns all objects, `0` returns only the total. */
  readonly limit?: number | undefined;
  /** `true`: ascending order. `false`: the exact reverse. */
  readonly ascending?: boolean | undefined;
  /** One of these namespaces. Only for namespaced kinds. */
  readonly namespaces?: readonly string[] | undefined;
  /** This namespace. Cannot be combined with `namespaces`. */
  readonly namespace?: string | undefined;
  /** Text in the name, alias, namespace, labels or images. Case-insensitive. */
  readonly q?: string | undefined;
  /** Text in the name or alias. Case-sensitive. */
  readonly name?: string | undefined;
  /** One of these names. An empty value selects no object. */
  readonly names?: readonly string[] | undefined;
  /** The uid of the object. */
  readonly uid?: string | undefined;
  /** Text in the alias, the annotation `platform.io/alias-name`. Case-sensitive. */
  readonly alias?: string | undefined;
  /** The uid of an owner. */
  readonly ownerReference?: string | undefined;
  /** The kind of an owner, for instance `ReplicaSet`. */
  readonly ownerKind?: string | undefined;
  /** A Kubernetes label selector. */
  readonly labelSelector?: string | undefined;
  /** Another label selector. Both must match. */
  readonly label?: string | undefined;
  /** A Kubernetes field selector over the fields of the kind. */
  readonly fieldSelector?: string | undefined;
  /** A label selector for annotations. */
  readonly annotation?: string | undefined;
  /** Adds counts of the objects on all pages: `status`, `namespace`, `ownerKind`, or a label key after `label:`. */
  readonly facets?: readonly string[] | undefined;
  /** `true` adds the columns of the kind, and their values for each object. */
  readonly columns?: boolean | undefined;
  /** `Metadata`: each item is a `PartialObjectMetadata`. `Object`, the default: the whole object. */
  readonly includeObject?: 'Metadata' | 'Object' | undefined;
  /** Only with `Accept: text/event-stream`: events with the new page, which is the default. */
  readonly live?: 'page' | undefined;
  /** The sort key; equal keys are ordered by name, then by namespace. For every kind: `name`, `namespace`, `creationTimestamp`, `createTime`, `age` and `status`. For pods also `restarts` and `node`; for events `lastTimestamp`; for deployments and jobs `updateTime`; for nodes `role`, `cpu`, `memory`, `pods` and `kubeletVersion`; for custom resources the names of their printer columns, also as `column:NAME`. */
  readonly sortBy?: string | undefined;
  /** One of these statuses, for instance `Running`. */
  readonly status?: readonly string[] | undefined;
  /** Only for nodes: one of these roles. */
  readonly role?: readonly string[] | undefined;
  /** Only for pods: a volume of one of these PersistentVolumeClaims. */
  readonly pvcName?: readonly string[] | undefined;
  /** Only for persistentvolumeclaims and persistentvolumes: one of these storage classes. */
  readonly storageClassName?: readonly string[] | undefined;
}

/** Parameters of a query. */
export interface SearchParameters {
  /** Text in names, aliases, namespaces, labels and images. Case-insensitive. Required. */
  readonly q?: string | undefined;
  /** The kinds to search, as `plural` or `plural.group`; the server starts to follow them. Default: all kinds that it follows. */
  readonly kinds?: readonly string[] | undefined;
  /** Matches of each kind. */
  readonly limit?: number | undefined;
}

/** Parameters of a query. */
export interface LogParameters {
  /** `query`: a page of lines. `statistics`: numbers of lines and containers. `histogram`: lines by time. `export`: all lines as a file. */
  readonly operation?: 'query' | 'statistics' | 'histogram' | 'export' | undefined;
  /** Start of the time range, in Unix seconds. Default: the first line. */
  readonly start_time?: number | undefined;
  /** Last second of the time range, in Unix seconds. Default: now. */
  readonly end_time?: number | undefined;
  /** Exact names of namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Parts of the names of namespaces; case-insensitive. */
  readonly namespace_query?: readonly string[] | undefined;
  /** Exact names of workloads, recognised by the names of their pods. */
  readonly workloads?: readonly string[] | undefined;
  /** Parts of the names of workloads; case-insensitive. */
  readonly workload_query?: readonly string[] | undefined;
  /** Exact names of pods. */
  readonly pods?: readonly string[] | undefined;
  /** Parts of the names of pods; case-insensitive. */
  readonly pod_query?: readonly string[] | undefined;
  /** Exact names of containers. */
  readonly containers?: readonly string[] | undefined;
  /** Parts of the names of containers; case-insensitive. */
  readonly container_query?: readonly string[] | undefined;
  /** Text that the line contains. `phrase` and `prefix`: up to 50 alternatives, separated by commas. `substring` and `regex`: one text, which may contain commas. */
  readonly log_query?: string | undefined;
  /** `phrase`: whole words. `prefix`: whole words, the last of which may be a beginning: `slow que` finds `slow query`; a text without words is a `substring`. `substring`: the literal text. `regex`: a regular expression that matches a part of the line. */
  readonly match?: 'phrase' | 'prefix' | 'substring' | 'regex' | undefined;
  /** `ignore`: case-insensitive. `respect`: case-sensitive. */
  readonly case?: 'ignore' | 'respect' | undefined;
  /** Lines with one of these levels. */
  readonly level?: readonly ('debug' | 'info' | 'warn' | 'error' | 'fatal')[] | undefined;
  /** Width of the buckets of a histogram: a number and a unit of `s`, `m`, `h`, `d`, `w`, `M` (month), `q` (quarter), `y`. */
  readonly interval?: string | undefined;
  /** Time zone of the buckets, for instance `Europe/Berlin` or `+05:30`. */
  readonly time_zone?: string | undefined;
  /** `desc`: newest first. `asc`: oldest first. */
  readonly sort?: 'desc' | 'asc' | undefined;
  /** Lines to skip; with `size` at most 10000. Use `cursor` for later pages. */
  readonly from?: number | undefined;
  /** Lines of a page. 0 returns only the total. */
  readonly size?: number | undefined;
  /** The `cursor` of the previous page. Only `size` may change. */
  readonly cursor?: string | undefined;
  /** The `id` of a record: returns it and the lines around it, oldest first. */
  readonly context?: string | undefined;
  /** Lines before the record of `context`. */
  readonly before?: number | undefined;
  /** Lines after the record of `context`. */
  readonly after?: number | undefined;
  /** `true`: adds the begin and exclusive end of each match, in UTF-16 code units. */
  readonly highlight?: boolean | undefined;
  /** `true`: adds the most severe level of each record, and the number of lines by this level to each bucket. */
  readonly severity?: boolean | undefined;
  /** Format of an export. `text`: only the lines, without time and names. */
  readonly format?: 'text' | 'ndjson' | 'json' | 'csv' | undefined;
  /** Only for `format=csv`. `false`: no byte order mark, which Excel needs for UTF-8. */
  readonly bom?: boolean | undefined;
  /** `true`: a live tail of new lines, as NDJSON, or with `Accept: text/event-stream` as Server-Sent Events. */
  readonly follow?: boolean | undefined;
}
