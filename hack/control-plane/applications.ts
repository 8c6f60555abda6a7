/** What runs on the simulated cluster: a Deployment each, whose container has the application's name. */
export interface Application {
  namespace: string;
  name: string;
  image: string;
  /** What it logs, over and over. */
  messages: readonly string[];
}

export const APPLICATIONS: readonly Application[] = [
  {
    namespace: 'shop',
    name: 'catalog',
    image: 'registry.example.com/platform/catalog:v1.32.3',
    messages: [
      'level=info msg="listed products" category=garden count=48 duration=12ms',
      'level=info msg="product read" sku=GA-1207 duration=2ms',
      'level=warn msg="slow query" table=products duration=812ms',
    ],
  },
  {
    namespace: 'shop',
    name: 'cart',
    image: 'registry.example.com/platform/cart:v1.33.4',
    messages: [
      '{"level":"info","msg":"item added","sku":"GA-1207","quantity":2}',
      '{"level":"error","msg":"session store did not answer","timeout":"2s","retry":true}',
    ],
  },
  {
    namespace: 'payments',
    name: 'checkout',
    image: 'registry.example.com/platform/checkout:v1.20.1',
    messages: [
      'INFO  order placed total=59.90 currency=EUR',
      'ERROR payment refused reason=insufficient_funds',
      '      at Checkout.pay (checkout.js:118)',
    ],
  },
  {
    namespace: 'payments',
    name: 'invoice',
    image: 'registry.example.com/platform/invoice:v1.10.1',
    messages: ['INFO  invoice rendered pages=1 duration=95ms', 'DEBUG template cache hit name=invoice-de'],
  },
  {
    namespace: 'monitoring',
    name: 'prometheus',
    image: 'registry.example.com/mirror/prometheus:v3.5.0',
    messages: [
      'ts=now level=info component=tsdb msg="write block" mint=0 maxt=7200000 duration=1.2s',
      'ts=now level=info component=tsdb msg="head gc completed" duration=34ms',
    ],
  },
  {
    namespace: 'monitoring',
    name: 'grafana',
    image: 'registry.example.com/mirror/grafana:v12.1.0',
    messages: ['logger=context userId=1 method=GET path=/api/dashboards status=200 duration=18ms'],
  },
];
