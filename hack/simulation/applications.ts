// Lists the applications of the simulated cluster. Each application is a Deployment with one container of the same
// name.

/** An application of the simulated cluster: a Deployment with one container of the same name. */
export interface Application {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** Resources that each pod requests of its node. */
  readonly requests: { readonly cpu: string; readonly memory: string };
  /** Its log messages, repeated in this order. */
  readonly messages: readonly string[];
}

export const APPLICATIONS: readonly Application[] = [
  {
    namespace: 'shop',
    name: 'catalog',
    image: 'registry.example.com/platform/catalog:v1.32.3',
    requests: { cpu: '500m', memory: '768Mi' },
    messages: [
      'level=info msg="listed products" category=garden count=48 duration=12ms',
      'level=info msg="product read" sku=GA-1207 duration=2ms',
      'level=warn msg="slow query" table=products duration=812ms',
      'level=info msg="products searched" query="garden chair" count=7 duration=31ms',
      'level=debug msg="cache filled" key=products:garden size=48',
      'level=error msg="search index is behind" lag=42s',
    ],
  },
  {
    namespace: 'shop',
    name: 'cart',
    image: 'registry.example.com/platform/cart:v1.33.4',
    requests: { cpu: '250m', memory: '512Mi' },
    messages: [
      '{"level":"info","msg":"item added","sku":"GA-1207","quantity":2}',
      '{"level":"info","msg":"item removed","sku":"KI-0031","quantity":1}',
      '{"level":"error","msg":"session store did not respond","timeout":"2s","retry":true}',
      '{"level":"warn","msg":"cart abandoned","items":3,"age":"45m"}',
    ],
  },
  {
    namespace: 'payments',
    name: 'checkout',
    image: 'registry.example.com/platform/checkout:v1.20.1',
    requests: { cpu: '500m', memory: '1Gi' },
    messages: [
      'INFO  order placed total=59.90 currency=EUR',
      'ERROR payment refused reason=insufficient_funds',
      '      at Checkout.pay (checkout.js:118)',
      'INFO  order placed total=12.00 currency=EUR',
      'WARN  payment provider is slow provider=card duration=2.4s',
    ],
  },
  {
    namespace: 'payments',
    name: 'invoice',
    image: 'registry.example.com/platform/invoice:v1.10.1',
    requests: { cpu: '250m', memory: '1536Mi' },
    messages: [
      'INFO  invoice rendered pages=1 duration=95ms',
      'DEBUG template cache hit name=invoice-de',
      'INFO  invoice sent by=mail duration=210ms',
      'FATAL out of numbers range=2026-11 left=0',
    ],
  },
  {
    namespace: 'monitoring',
    name: 'prometheus',
    image: 'registry.example.com/mirror/prometheus:v3.5.0',
    requests: { cpu: '1', memory: '4Gi' },
    messages: [
      'ts=now level=info component=tsdb msg="write block" mint=0 maxt=7200000 duration=1.2s',
      'ts=now level=info component=tsdb msg="head gc completed" duration=34ms',
      'ts=now level=warn component=scrape msg="scrape missed" target=10.0.3.17:9100',
      'ts=now level=error component=rules msg="evaluation failed" rule=disk-full',
    ],
  },
  {
    namespace: 'monitoring',
    name: 'grafana',
    image: 'registry.example.com/mirror/grafana:v12.1.0',
    requests: { cpu: '200m', memory: '256Mi' },
    messages: [
      'logger=context level=info userId=1 method=GET path=/api/dashboards status=200 duration=18ms',
      'logger=context level=info userId=7 method=GET path=/api/datasources status=200 duration=9ms',
      'logger=alerting level=error msg="rule failed" rule=disk-full error="no data"',
    ],
  },
];

/** The application of the crash-looping pods, which not every simulated cluster has. */
export const CRASH_LOOPING: Application = {
  namespace: 'shop',
  name: 'cart-export',
  image: 'registry.example.com/platform/cart-export:v1.33.4',
  requests: { cpu: '100m', memory: '128Mi' },
  messages: [
    'level=info msg="export started" format=csv',
    'level=warn msg="bucket is slow" duration=2.1s',
    'level=fatal msg="bucket is unreachable" bucket=exports',
  ],
};

/** The application of the Jobs, which only a lively cluster has. */
export const REPORT: Application = {
  namespace: 'shop',
  name: 'report',
  image: 'registry.example.com/platform/report:v2.4.0',
  requests: { cpu: '1', memory: '2Gi' },
  messages: [
    'INFO  rows read table=orders rows=5000',
    'INFO  page rendered page=7',
    'WARN  row skipped reason="no currency"',
  ],
};
