// The frame of the page: header, navigation, and the view of the current route.
import { type ComponentChildren, h } from 'preact';
import { ListView } from './list/list-view.ts';
import { LogsView } from './logs/logs-view.ts';
import { ObjectView } from './object/object-view.ts';
import { OverviewView } from './overview/overview-view.ts';
import { type Route, useRoute } from './route.ts';

export function App(): ComponentChildren {
  return h('main', { id: 'view' }, viewOf(useRoute()));
}

function viewOf(route: Route): ComponentChildren {
  switch (route.view) {
    case 'overview':
      return h(OverviewView, { route });
    case 'list':
      // Another kind is another view, with a state of its own.
      return h(ListView, { route, key: route.resource });
    case 'object':
      return h(ObjectView, { route, key: `${route.resource} ${route.namespace} ${route.name}` });
    case 'logs':
      return h(LogsView, { route });
    default:
      return h('h1', {}, 'Page not found');
  }
}
