// Handler of the kubeconfig that users download from the account page.
import type { Handler } from '../../../request/request-context.ts';
import { NO_STORE } from '../../http/oauth-response.ts';
import { ACCOUNT_PATH } from '../../page/account-sections.ts';
import type { AccountHandlersOptions } from './account-handlers.ts';
import { browserHandler, PageError } from './browser-handler.ts';

export function kubeconfigHandler(options: AccountHandlersOptions): Handler {
  const { browsers, forms, kubeconfig } = options;
  return browserHandler(options, async (context) => {
    if (!kubeconfig) throw new PageError(404, 'Page not found', 'This server does not forward kubectl.');
    const [by] = await browsers.of(context);
    if (!by) return forms.show(context, ACCOUNT_PATH);
    const body = Buffer.from(kubeconfig());
    context.response.writeHead(200, {
      'Content-Type': 'application/yaml',
      'Content-Length': body.length,
      'Content-Disposition': 'attachment; filename="kubeconfig.yaml"',
      'X-Content-Type-Options': 'nosniff',
      ...NO_STORE,
    });
    context.response.end(body);
  });
}
